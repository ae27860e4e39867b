import { mkdir, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createBrowserPool } from '../engines/chromium/browser-pool.ts';
import { TEXT_LAYER } from '../engines/chromium/request.ts';
import { finishPdf } from '../engines/pdf/finish.ts';
import { createPdfPrograms, Pdf } from '../engines/pdf/pdf.ts';
import { ofOption } from '../shared/errors.ts';
import { type Conversion, type Engine, type EngineDependencies, pageFile } from '../shared/tool.ts';
import { coverOptions, type Html2pdfOptions } from './options.ts';
import { changesOf, finishOf, type html2pdf } from './tool.ts';

const PICTURED = 'A filter of CSS turns text into a picture.';
const NO_LANGUAGE = 'The document states no language. The element <html> needs the attribute lang.';

const SCRIPT = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** Creates the engine: warm browsers that print, and qpdf for features that Chromium's PDF writer lacks. */
export function createEngine(
  dependencies: EngineDependencies,
  engineScript = SCRIPT,
): Engine<typeof html2pdf> {
  const browsers = createBrowserPool<Html2pdfOptions>(dependencies, engineScript);
  const programs = createPdfPrograms(dependencies);

  /** Prints the page named by `--cover`. */
  async function printCover(conversion: Conversion<Html2pdfOptions, URL>, cover: string) {
    const source = new URL(cover);
    const directory = join(conversion.directory, 'cover');
    await mkdir(directory);
    const options = coverOptions(conversion.options, conversion.source, source);
    const { files: _, sent, ...others } = conversion;
    const files = sent?.includes(cover) ? { files: [pageFile(cover)] } : {};
    const printed = await browsers
      .run({ ...others, ...files, source, options, directory })
      .catch((error: unknown) => {
        throw ofOption(error, "The page for '--cover'", '--cover');
      });
    // qpdf gets only files in the conversion's own directory.
    const path = join(conversion.directory, 'cover.pdf');
    await rename(printed.path, path);
    return { ...printed, path };
  }

  return {
    convert: async (conversion) => {
      const { options } = conversion;
      const cover = options.cover === undefined ? undefined : await printCover(conversion, options.cover);
      const {
        path,
        overlays,
        pageCount,
        settled,
        hasLanguage,
        warnings: ownWarnings = [],
      } = await browsers.run(conversion);
      const facts = {
        settled: settled && (cover?.settled ?? true),
        ...(pageCount === undefined ? {} : { pageCount: pageCount + (cover?.pageCount ?? 0) }),
      };
      let pdf = new Pdf(programs, { path }, conversion);
      for (const overlay of overlays) pdf = await pdf.edit({ overlay: { path: overlay } });
      const isPicture = overlays.some((overlay) => basename(overlay) === TEXT_LAYER);
      const changes = { ...changesOf(options), before: cover };
      const obstacles = [...(isPicture ? [PICTURED] : []), ...(hasLanguage ? [] : [NO_LANGUAGE])];
      const finish = { ...finishOf(options), obstacles };
      const { pdf: finished, warnings } = await finishPdf(pdf, changes, finish);
      const sourceKind = conversion.files ? 'upload' : 'url';
      return {
        ...facts,
        sourceKind,
        warnings: [...ownWarnings, ...warnings],
        outputs: [{ path: finished.path }],
      };
    },
    warm: browsers.warm,
    close: async () => {
      await Promise.all([browsers.close(), programs.close()]);
    },
  };
}
