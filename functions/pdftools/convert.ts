import { isDeepStrictEqual } from 'node:util';
import { archivePdf } from '../engines/pdf/archive.ts';
import type { PdfOutput } from '../engines/pdf/options.ts';
import { createPdfPrograms, Pdf } from '../engines/pdf/pdf.ts';
import { createPdfEngine } from '../engines/pdf/pdf-engine.ts';
import { createFallback } from '../engines/pdf/pdfjs/fallback.ts';
import { encryptionOf } from '../engines/pdf/qpdf/encryption.ts';
import { claimsPdfA, hasSignature } from '../engines/pdf/rewrite.ts';
import { readIdentity, signPdf } from '../engines/pdf/sign/signer.ts';
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
    const { options, format, source, account } = conversion;
    const { sign, signReason: reason, signPlace: place } = options;
    if (sign === undefined || format !== 'pdf') return write(conversion);
    const identity = await readIdentity(dependencies.findSigner, sign, account);
    // Rewriting a document would make its signatures invalid.
    const isKept = isUnchanged(options) && (await hasSignature(source.path));
    const { outputs, ...converted } = isKept ? { outputs: [{ path: source.path }] } : await write(conversion);
    const signed = async function* () {
      for await (const output of outputs) {
        const pdf = new Pdf(programs, output, conversion);
        yield { ...output, path: await signPdf(pdf, identity, { reason, place }) };
      }
    };
    return { ...converted, outputs: signed() };
  }

  async function write(conversion: PdftoolsConversion): Promise<Converted> {
    const { options, format } = conversion;
    const output = outputOf(options);
    const isClaimed = output.encryption !== undefined && (await claimsPdfA(conversion.source.path));
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

  /** Converts a document whose pages are already selected and rotated. */
  async function convertPrepared(
    conversion: PdftoolsConversion,
    { pdf: { path }, pageCount, pages, warnings }: Prepared,
    output: PdfOutput,
  ): Promise<Converted> {
    const { options, source, format } = conversion;
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
    const archived = await archive(converted.outputs, conversion);
    return {
      ...converted,
      pageCount,
      warnings: [...warnings, ...(converted.warnings ?? []), ...archived.warnings],
      outputs: options.split === undefined ? renumbered(archived.outputs, pages) : archived.outputs,
    };
  }

  /** Makes finished PDFs follow `--pdf-version`. */
  async function archive(outputs: Converted['outputs'], conversion: PdftoolsConversion) {
    const { options, format } = conversion;
    const { pdfVersion, force, linearize } = options;
    if (pdfVersion === undefined || format !== 'pdf') return { outputs, warnings: [] };
    const archived: Output[] = [];
    const warnings = new Set<string>();
    for await (const output of outputs) {
      const finished = new Pdf(programs, output, conversion);
      const { pdf: result, warnings: own } = await archivePdf(finished, pdfVersion, { force, linearize });
      archived.push({ ...output, path: result.path });
      for (const warning of own) warnings.add(warning);
    }
    return { outputs: archived, warnings: [...warnings] };
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

function outputOf(options: PdftoolsConversion['options']): PdfOutput {
  const { linearize, optimize, newOwnerPassword } = options;
  return {
    encryption: encryptionOf({ ...options, ownerPassword: newOwnerPassword }),
    linearize,
    recompress: optimize !== undefined,
  };
}

/** Yields outputs with the page numbers of the merged document instead of those of the selection. */
async function* renumbered(outputs: Converted['outputs'], pages: readonly number[]): AsyncGenerator<Output> {
  for await (const { page, ...output } of outputs) {
    yield { ...output, ...(page !== undefined && { page: pages[page - 1] ?? page }) };
  }
}
