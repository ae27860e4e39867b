import { fileURLToPath } from 'node:url';
import { createPages } from '../shared/chromium/pages.ts';
import type { Engine, EngineDependencies } from '../shared/tool.ts';
import type { Html2pdfOptions, html2pdf } from './tool.ts';

const SCRIPT = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** Makes the engine: warm browsers that print. */
export function createEngine(
  dependencies: EngineDependencies,
  engineScript = SCRIPT,
): Engine<typeof html2pdf> {
  const pages = createPages<Html2pdfOptions>(dependencies, engineScript);
  return {
    convert: async (conversion) => {
      const { path, pageCount, settled } = await pages.run(conversion);
      return { ...(pageCount === undefined ? {} : { pageCount }), settled, outputs: [{ path }] };
    },
    warm: pages.warm,
    close: pages.close,
  };
}
