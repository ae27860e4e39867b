import { fileURLToPath } from 'node:url';
import { createPages } from '../engines/chromium/pages.ts';
import type { Engine, EngineDependencies } from '../shared/tool.ts';
import type { Html2imageOptions, html2image } from './tool.ts';

const SCRIPT = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** Creates the engine: warm browsers that take screenshots. */
export function createEngine(
  dependencies: EngineDependencies,
  engineScript = SCRIPT,
): Engine<typeof html2image> {
  const pages = createPages<Html2imageOptions>(dependencies, engineScript);
  return {
    convert: async (conversion) => {
      const { path, settled } = await pages.run(conversion);
      return { settled, sourceKind: conversion.files ? 'upload' : 'url', outputs: [{ path }] };
    },
    warm: pages.warm,
    close: pages.close,
  };
}
