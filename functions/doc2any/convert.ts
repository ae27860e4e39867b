import { appendFile, link, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createEngine as createPdfEngine } from '../pdftools/convert.ts';
import type { pdftools } from '../pdftools/tool.ts';
import { ConversionError } from '../shared/errors.ts';
import { choosePages } from '../shared/options/page-selection.ts';
import type { Conversion, Engine, EngineDependencies, SourceFile } from '../shared/tool.ts';
import { recognize } from './detect/recognize.ts';
import type { Recognized } from './detect/recognized.ts';
import { missingEnds } from './detect/rtf-groups.ts';
import { type Doc2anyOptions, exportOptions } from './libreoffice/export-options.ts';
import type { HostRequest } from './libreoffice/host.ts';
import { loadOptions } from './libreoffice/load-options.ts';
import { createOffice } from './libreoffice/office.ts';
import { arrangement } from './libreoffice/page-layout.ts';
import { countPages } from './libreoffice/pdf-pages.ts';
import { rasterOptions } from './raster-options.ts';
import type { doc2any } from './tool.ts';

type OfficeConversion = Conversion<Doc2anyOptions, SourceFile>;

interface Document extends Recognized {
  readonly path: string;
  readonly bytes: Buffer;
}

/** Makes the engine: up to `size` warm LibreOffice processes; images go on through `rasterize`, pdftools by default. */
export function createEngine(
  dependencies: EngineDependencies,
  rasterize: Engine<typeof pdftools> = createPdfEngine(dependencies),
): Engine<typeof doc2any> {
  const plain = createOffice(dependencies, { arranging: false });
  // Passwords are asked for by a dialog, and `Batch`, which answers all of them with no, holds until the process ends.
  const special = createOffice(dependencies, { arranging: true });

  /** Converts once, with the pages asked for or all, and proves the result. */
  async function toPdf(conversion: OfficeConversion, document: Document, pageRange?: string) {
    const { directory, options } = conversion;
    const path = join(directory, pageRange === undefined ? 'document.pdf' : 'pages.pdf');
    const macro = arrangement(options, document.kind);
    const password = document.encrypted ? options.password : undefined;
    const isSpecial = macro !== undefined || password !== undefined;
    const request: HostRequest = {
      source: pathToFileURL(document.path).href,
      target: pathToFileURL(path).href,
      load: loadOptions(document.kind, document.bytes, { batch: !isSpecial }),
      filter: 'pdf',
      save: exportOptions(options, pageRange),
      password,
      macro,
    };
    const { shown } = await (isSpecial ? special : plain).run(request, conversion);
    const pageCount = await countPages(path);
    if (pageCount > 0) return { path, pageCount, shown };
    throw new ConversionError('CONVERSION_FAILED', 'The document came out without a page.');
  }

  async function convert(conversion: OfficeConversion) {
    const { source, options, directory, format, limits } = conversion;
    const claims = { declared: options.kind, name: source.name, contentType: source.contentType };
    const bytes = await readFile(source.path);
    const recognized = await recognize(bytes, claims);
    // A name that says what it is: LibreOffice tells text from tables by it.
    const document = { ...recognized, bytes, path: join(directory, `document.${recognized.kind}`) };
    await link(source.path, document.path);
    if (document.kind === 'rtf') await appendFile(document.path, missingEnds(bytes));

    const whole = await toPdf(conversion, document).catch((thrown: unknown) => {
      throw document.encrypted && isDamage(thrown) ? locked(options.password) : thrown;
    });
    const { pageCount } = whole;
    if (pageCount > limits.pages) {
      throw new ConversionError(
        'RESULT_TOO_LARGE',
        `The document has ${pageCount} pages, more than ${limits.pages}.`,
      );
    }
    if (format !== 'pdf') {
      const pdf = { path: whole.path, name: '', contentType: 'application/pdf', bytes: 0 };
      return rasterize.convert({ ...conversion, source: pdf, options: rasterOptions(options) });
    }
    const pages = choosePages(options, pageCount, '--pages');
    if (!pages || pages.length === pageCount) return { pageCount, outputs: [{ path: whole.path }] };
    const slides = options.hiddenSlides ? [] : whole.shown;
    const { path } = await toPdf(
      conversion,
      document,
      pages.map((page) => slides[page - 1] ?? page).join(','),
    );
    return { pageCount, outputs: [{ path }] };
  }

  return {
    convert,
    warm: () => plain.warm(),
    close: async () => {
      await Promise.all([plain.close(), special.close(), rasterize.close()]);
    },
  };
}

/** LibreOffice gives one answer to damaged documents and to those it would have to ask a password for. */
function isDamage(thrown: unknown): boolean {
  return thrown instanceof ConversionError && thrown.code === 'CORRUPT_SOURCE';
}

function locked(password: string | undefined): ConversionError {
  if (password === undefined) {
    return new ConversionError(
      'PASSWORD_REQUIRED',
      "The document is locked: give its password as '--password'.",
    );
  }
  // It was not even asked for: old slides, and providers of rights.
  return new ConversionError(
    'UNSUPPORTED_SOURCE',
    'The document is locked in a way that cannot be opened by a password.',
  );
}
