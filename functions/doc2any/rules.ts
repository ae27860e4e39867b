import { INPUTS, type Input, type Module } from '../engines/office/inputs.ts';
import {
  DOCUMENTS,
  EDITABLE,
  type Editable,
  editableFormats,
  readEditable,
} from '../engines/office/outputs.ts';
import { ConversionError } from '../shared/errors.ts';
import type { Format } from '../shared/tool.ts';

/** The options that the rules concern. */
interface RuledOptions {
  readonly kind: Input | undefined;
  readonly firstPage: number | undefined;
  readonly lastPage: number | undefined;
  readonly pages: readonly unknown[] | undefined;
  readonly fit: string | undefined;
  readonly pdfVersion: string;
  readonly tagged: boolean;
  readonly lossless: boolean;
  readonly notes: boolean;
  readonly hiddenSlides: boolean;
  readonly comments: boolean;
  readonly encrypt: string | undefined;
  readonly ownerPassword: string | undefined;
  readonly print: string;
  readonly modify: string;
  readonly copy: boolean;
  readonly watermark: string | undefined;
  readonly watermarkColor: number | undefined;
  readonly watermarkAngle: number | undefined;
  readonly outputSeparator: string | undefined;
  readonly outputEncoding: string | undefined;
  readonly sheet: number | undefined;
}

/** Yields an error for each broken rule between options, or between an option and the output format. */
export function* checkRules(options: RuledOptions, format: Format | undefined): Iterable<ConversionError> {
  const { notes, fit, pdfVersion } = options;
  // LibreOffice's page ranges do not count the pages that these options produce.
  const uncounted = notes ? '--notes' : fit === 'sheet' ? '--fit=sheet' : undefined;
  if (format === 'pdf' && isSelecting(options) && uncounted) {
    yield bad(`'${uncounted}' cannot be combined with '-f', '-l' or '--pages' for pdf output.`);
  }
  const protection = protectionOption(options);
  if (protection && pdfVersion.startsWith('PDF/A')) {
    const reason = 'PDF/A does not allow encryption.';
    yield bad(`'${protection}' cannot be combined with '--pdf-version=${pdfVersion}': ${reason}`);
  }
  const detail = watermarkDetail(options);
  if (options.watermark === undefined && detail) yield bad(`'${detail}' requires '--watermark'.`);

  const editable = readEditable(format);
  const printed = printOption(options);
  if (editable && printed) yield bad(`'${printed}' cannot be combined with ${editable} output.`);
  const table = tableOption(options);
  if (format !== undefined && format !== 'csv' && table) yield bad(`'${table}' requires csv output.`);
  if (editable && options.kind) {
    const conflict = moduleConflict(INPUTS[options.kind], editable);
    if (conflict) yield conflict;
  }
}

/** Returns the error for a document that opens in another module than the one that writes the format. */
export function moduleConflict(module: Module, format: Editable): ConversionError | undefined {
  if (EDITABLE[format] === module) return undefined;
  const offer = [...editableFormats(module), 'pdf', 'jpg', 'png'].map((each) => `.${each}`).join(', ');
  return new ConversionError(
    'UNSUPPORTED_CONVERSION',
    `Parameter 'outfile' asks for a .${format} file, but the source is ${DOCUMENTS[module]}, which can be converted to ${offer}.`,
  );
}

function bad(rule: string): ConversionError {
  return new ConversionError('BAD_PARAMETER', `Parameter ${rule}`);
}

function isSelecting({ firstPage, lastPage, pages }: RuledOptions): boolean {
  return firstPage !== undefined || lastPage !== undefined || pages !== undefined;
}

/** Returns the first given option that only applies to PDF and images. */
function printOption(options: RuledOptions): string | undefined {
  if (options.pages !== undefined) return '--pages';
  if (isSelecting(options)) return options.firstPage !== undefined ? '-f' : '-l';
  if (options.fit === 'sheet') return '--fit=sheet';
  if (options.pdfVersion !== '1.7') return '--pdf-version';
  if (options.tagged) return '--tagged';
  if (options.lossless) return '--lossless';
  if (options.notes) return '--notes';
  if (options.hiddenSlides) return '--hidden-slides';
  if (options.comments) return '--comments';
  return options.watermark !== undefined ? '--watermark' : protectionOption(options);
}

/** Returns the first given option that encrypts the PDF. */
function protectionOption(options: RuledOptions): string | undefined {
  if (options.encrypt !== undefined) return '--encrypt';
  if (options.ownerPassword !== undefined) return '--owner-password';
  if (options.print !== 'full') return '--allow-print';
  if (options.modify !== 'all') return '--allow-modify';
  return options.copy ? undefined : '--no-copy';
}

function watermarkDetail({ watermarkColor, watermarkAngle }: RuledOptions): string | undefined {
  if (watermarkColor !== undefined) return '--watermark-color';
  return watermarkAngle === undefined ? undefined : '--watermark-angle';
}

/** Returns the first given option that only applies to csv. */
function tableOption({ outputSeparator, outputEncoding, sheet }: RuledOptions): string | undefined {
  if (outputSeparator !== undefined) return '--output-separator';
  if (outputEncoding !== undefined) return '--output-encoding';
  return sheet === undefined ? undefined : '--sheet';
}
