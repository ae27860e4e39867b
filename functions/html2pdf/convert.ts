import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createPages } from '../shared/chromium/pages.ts';
import { createQpdf } from '../shared/qpdf/qpdf.ts';
import type { Engine, EngineDependencies } from '../shared/tool.ts';
import { editOf } from './protection.ts';
import type { Html2pdfOptions, html2pdf } from './tool.ts';

const SCRIPT = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** Creates the engine: warm browsers that print, and qpdf for features that Chromium's PDF writer lacks. */
export function createEngine(
  dependencies: EngineDependencies,
  engineScript = SCRIPT,
): Engine<typeof html2pdf> {
  const pages = createPages<Html2pdfOptions>(dependencies, engineScript);
  const qpdf = createQpdf(dependencies);
  return {
    convert: async (conversion) => {
      const { path, pageCount, settled } = await pages.run(conversion);
      const facts = { settled, ...(pageCount === undefined ? {} : { pageCount }) };
      const edit = editOf(conversion.options);
      if (!edit) return { ...facts, outputs: [{ path }] };
      const target = join(conversion.directory, 'edited.pdf');
      await qpdf.edit({ ...edit, source: path, target }, conversion);
      return { ...facts, outputs: [{ path: target }] };
    },
    warm: pages.warm,
    close: async () => {
      await Promise.all([pages.close(), qpdf.close()]);
    },
  };
}
