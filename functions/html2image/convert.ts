import { fileURLToPath } from 'node:url';
import { createBrowserPool } from '../engines/chromium/browser-pool.ts';
import type { Engine, EngineDependencies } from '../shared/tool.ts';
import type { Html2imageOptions, html2image } from './tool.ts';

const SCRIPT = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** Creates the engine: warm browsers that take screenshots. */
export function createEngine(
  dependencies: EngineDependencies,
  engineScript = SCRIPT,
): Engine<typeof html2image> {
  const browsers = createBrowserPool<Html2imageOptions>(dependencies, engineScript);
  return {
    convert: async (conversion) => {
      const { path, settled } = await browsers.run(conversion);
      return { settled, sourceKind: conversion.files ? 'upload' : 'url', outputs: [{ path }] };
    },
    warm: browsers.warm,
    close: browsers.close,
  };
}
