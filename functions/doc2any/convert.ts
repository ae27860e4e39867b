import { link, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createEngine as createPdfEngine } from '../pdftools/convert.ts';
import { choosePages } from '../pdftools/pages.ts';
import type { pdftools } from '../pdftools/tool.ts';
import { EngineProcesses } from '../shared/engine-processes.ts';
import { ConversionError } from '../shared/errors.ts';
import type { Conversion, Engine, EngineSurroundings, SourceFile } from '../shared/tool.ts';
import { type Doc2anyOptions, exportOptions } from './export-options.ts';
import { type HostRequest, hostCommand } from './office-host.ts';
import { countPages } from './pdf-pages.ts';
import { rasterOptions } from './raster-options.ts';
import { recognize } from './recognize.ts';
import type { doc2any } from './tool.ts';

type OfficeConversion = Conversion<Doc2anyOptions, SourceFile>;

/** Makes the engine: up to `size` warm LibreOffice processes; images go on through `rasterize`, pdftools by default. */
export function createEngine(
  surroundings: EngineSurroundings,
  rasterize: Engine<typeof pdftools> = createPdfEngine(surroundings),
): Engine<typeof doc2any> {
  const { layers, temporary, size } = surroundings;
  const processes = new EngineProcesses((home) => hostCommand(layers, home), {
    temporary,
    size,
    requests: 200,
    memory: 900,
  });

  /** Converts once, with the pages asked for or all, and proves the result. */
  async function toPdf(conversion: OfficeConversion, source: string, pageRange?: string) {
    const { directory, options } = conversion;
    const path = join(directory, pageRange === undefined ? 'document.pdf' : 'pages.pdf');
    const request: HostRequest = {
      source: pathToFileURL(source).href,
      target: pathToFileURL(path).href,
      // Without it a damaged document waits for an answer to a dialog that nobody sees.
      load: 'Batch=true',
      filter: 'pdf',
      save: exportOptions(options, pageRange),
    };
    await processes.run(request, conversion);
    const pageCount = await countPages(path);
    if (pageCount > 0) return { path, pageCount };
    throw new ConversionError('CONVERSION_FAILED', 'The document came out without a page.');
  }

  async function convert(conversion: OfficeConversion) {
    const { source, options, directory, format, limits } = conversion;
    const claims = { declared: options.kind, name: source.name, contentType: source.contentType };
    const { kind, encrypted } = await recognize(await readFile(source.path), claims);
    // A name that says what it is: LibreOffice tells text from tables by it.
    const named = join(directory, `document.${kind}`);
    await link(source.path, named);

    const whole = await toPdf(conversion, named).catch((thrown: unknown) => {
      throw encrypted && isOf(thrown, 'CORRUPT_SOURCE') ? locked(options.password) : thrown;
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
    const { path } = await toPdf(conversion, named, pages.join(','));
    return { pageCount, outputs: [{ path }] };
  }

  return {
    convert,
    warm: async () => {
      await processes.warm();
    },
    close: async () => {
      await Promise.all([processes.close(), rasterize.close()]);
    },
  };
}

function isOf(thrown: unknown, code: ConversionError['code']): boolean {
  return thrown instanceof ConversionError && thrown.code === code;
}

function locked(password: string | undefined): ConversionError {
  return password === undefined
    ? new ConversionError('PASSWORD_REQUIRED', "The document is locked: give its password as '--password'.")
    : new ConversionError('WRONG_PASSWORD', "The password given as '--password' does not open the document.");
}
