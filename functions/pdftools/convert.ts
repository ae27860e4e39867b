import { isDeepStrictEqual } from 'node:util';
import { type Finish, finishPdf, type PdfConversion } from '../engines/pdf/finish.ts';
import { encryptionOf } from '../engines/pdf/finish-options.ts';
import { createPdfPrograms, Pdf } from '../engines/pdf/pdf.ts';
import { createPdfEngine } from '../engines/pdf/pdf-engine.ts';
import { createFallback } from '../engines/pdf/pdfjs/fallback.ts';
import { changesOf, SIGNED } from '../engines/pdf/rewrite.ts';
import { createToolbox, type Prepared } from '../engines/pdf/toolbox/toolbox.ts';
import { ConversionError } from '../shared/errors.ts';
import { defaultsOf } from '../shared/options/read-options.ts';
import type {
  Conversion,
  Converted,
  Engine,
  EngineDependencies,
  OptionsOf,
  Output,
  SourceFile,
} from '../shared/tool.ts';
import { pdftools } from './tool.ts';

type PdftoolsConversion = Conversion<OptionsOf<typeof pdftools>, SourceFile>;

/**
 * Creates the engine: PDFium, and pdf.js where PDFium fails, in up to `size` processes each, which share a document's
 * pages. Documents that change are prepared first.
 */
export function createEngine(dependencies: EngineDependencies): Engine<typeof pdftools> {
  const programs = createPdfPrograms(dependencies);
  const fallback = createFallback(dependencies);
  const pdf = createPdfEngine(programs, dependencies, fallback);
  const toolbox = createToolbox(dependencies, programs);

  async function convert(conversion: PdftoolsConversion): Promise<Converted> {
    const { options, format, source } = conversion;
    const finish = await finishOf(conversion);
    // Rewriting a document would make its signatures invalid.
    const given = new Pdf(programs, source, conversion);
    if (finish.sign && isUnchanged(options) && (await given.marks()).isSigned) {
      const { pdf: signed } = await finishPdf(given, {}, finish);
      return { outputs: [{ path: signed.path }] };
    }
    const output = { finish, recompress: options.optimize !== undefined };
    const isClaimed = finish.encryption !== undefined && (await given.marks()).isArchive;
    if (isClaimed && !options.force) {
      const message =
        'The document is PDF/A, which does not allow encryption. Add -force to encrypt it. The result does not claim to be PDF/A then.';
      throw new ConversionError('CONVERSION_FAILED', message, { parameter: '-encrypt' });
    }
    if (isClaimed || toolbox.isNeeded(options, format))
      return convertPrepared(conversion, await toolbox.prepare(conversion), output);
    if (format === 'json') return toolbox.describe(conversion);
    if (format === 'zip') return toolbox.extract(conversion);
    const rotate = options.rotations.reduce((sum, { degrees }) => sum + degrees, 0) % 360;
    return pdf.convert({ ...conversion, ...output, options: { ...options, rotate } });
  }

  /** Returns the last steps that the options ask for. */
  async function finishOf({ options, format, account }: PdftoolsConversion): Promise<Finish> {
    const { pdfVersion: version, force, linearize, newOwnerPassword, sign } = options;
    const { signReason: reason, signPlace: place } = options;
    const encryption = encryptionOf({ ...options, ownerPassword: newOwnerPassword });
    const finish = { version, force, linearize, encryption };
    if (sign === undefined || format !== 'pdf') return finish;
    // Only calls that sign need the library.
    const { readIdentity, signPdf } = await import('../engines/pdf/sign.ts');
    const identity = await readIdentity(dependencies.signers, sign, account);
    return { ...finish, sign: (file) => signPdf(file, identity, { reason, place }) };
  }

  /** Converts a document whose pages are already selected and rotated. */
  async function convertPrepared(
    conversion: PdftoolsConversion,
    { pdf: changed, isArchive, isSigned, pageCount, pages, warnings }: Prepared,
    output: Required<Pick<PdfConversion, 'finish' | 'recompress'>>,
  ): Promise<Converted> {
    const { options, source, format, delivery } = conversion;
    if (format === 'pdf' && delivery === 'one' && options.split === undefined && !options.watermark) {
      const changes = changesOf(output, isArchive);
      const finished = await finishPdf(changed, changes, output.finish);
      const outputs = [{ path: finished.pdf.path, pages: pages.length }];
      const all = [...warnings, ...(isSigned ? [SIGNED] : []), ...finished.warnings];
      return { pageCount, warnings: all, outputs };
    }
    const { path } = await changed.written();
    const whole = { firstPage: 1, lastPage: 0, pages: undefined, odd: false, even: false };
    // The pages of a PDF are gray already.
    const color = format === 'pdf' ? { gray: false, mono: false } : {};
    const opened = { ...color, userPassword: undefined, ownerPassword: undefined, rotate: 0 };
    const prepared = {
      ...conversion,
      ...output,
      source: { ...source, path },
      options: { ...options, ...whole, ...opened },
    };
    const converted =
      format === 'json'
        ? await toolbox.describe(prepared)
        : format === 'zip'
          ? await toolbox.extract(prepared)
          : await pdf.convert(prepared);
    const { outputs } = converted;
    return {
      ...converted,
      pageCount,
      warnings: [...warnings, ...(converted.warnings ?? [])],
      outputs: options.split === undefined ? renumbered(outputs, pages) : outputs,
    };
  }

  return {
    convert,
    warm: () => programs.pdfium.warm(),
    close: async () => {
      await Promise.all([programs.close(), fallback.close(), toolbox.close()]);
    },
  };
}

/** Whether no option besides those of a signature has an effect. */
function isUnchanged(options: PdftoolsConversion['options']): boolean {
  const { sign: _, signReason: __, signPlace: ___, ...others } = pdftools.options;
  const given: Readonly<Record<string, unknown>> = options;
  return Object.entries(defaultsOf(others)).every(([name, value]) => isDeepStrictEqual(given[name], value));
}

/** Yields outputs with the page numbers of the merged document instead of those of the selection. */
async function* renumbered(outputs: Converted['outputs'], pages: readonly number[]): AsyncGenerator<Output> {
  for await (const { page, ...output } of outputs) {
    yield { ...output, ...(page !== undefined && { page: pages[page - 1] ?? page }) };
  }
}
