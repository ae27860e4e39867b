import { ConversionError } from '../../shared/errors.ts';
import type { Conversion, SourceFile } from '../../shared/tool.ts';
import { ACCESSIBLE, type Encryption, readStandard, type Standard } from './finish-options.ts';
import type { PdfOptions } from './options.ts';
import { MAX_JSON, type Pdf } from './pdf.ts';
import type { Changes } from './qpdf.ts';

/** The last steps of every tool that writes PDFs. */
export interface Finish {
  /** The standard to follow, or the least version of PDF. */
  readonly version?: string | undefined;
  /** Whether a PDF that cannot follow the standard is written without it. */
  readonly force?: boolean | undefined;
  /** Obstacles to being accessible that the objects do not show. */
  readonly obstacles?: readonly string[];
  /** Absent if the PDF is not encrypted. */
  readonly encryption?: Encryption | undefined;
  /** Whether viewers can show page 1 before the rest has arrived. */
  readonly linearize?: boolean;
  /** Returns a signed copy. Absent if the PDF is not signed. */
  readonly sign?: (pdf: Pdf) => Promise<Pdf>;
}

/** A conversion whose results may be PDFs. */
export type PdfConversion = Conversion<PdfOptions, SourceFile> & {
  readonly finish?: Finish;
  /** Whether streams are compressed again. */
  readonly recompress?: boolean;
};

interface Finished {
  readonly pdf: Pdf;
  /** Why the PDF does not follow the standard, or what was removed for that. */
  readonly warnings: readonly string[];
}

/** Changes a PDF, makes it follow a standard, encrypts it and signs it, in this order. */
export async function finishPdf(source: Pdf, changes: Changes, finish: Finish): Promise<Finished> {
  const { version, encryption: encrypt, linearize, sign } = finish;
  const standard = readStandard(version);
  const first = { ...changes, linearize };
  const { pdf, warnings } = standard
    ? await conform(await edited(source, first), standard, finish)
    : { pdf: source, warnings: [] };
  const last = standard ? { encrypt } : { ...first, encrypt, minVersion: version };
  const written = await edited(pdf, last);
  return { pdf: sign ? await sign(written) : written, warnings };
}

async function edited(pdf: Pdf, changes: Changes): Promise<Pdf> {
  return Object.values(changes).some((each) => each !== undefined && each !== false)
    ? pdf.edit(changes)
    : pdf;
}

/** Obstacles that a message names. The list of issues has more. */
const NAMED_OBSTACLES = 5;

/** The version of PDF that each standard is based on. */
const VERSIONS: Readonly<Record<Standard, string>> = {
  'PDF/A-1b': '1.4',
  'PDF/A-2b': '1.7',
  'PDF/A-2u': '1.7',
  'PDF/A-3b': '1.7',
  'PDF/A-3u': '1.7',
  'PDF/A-4': '2.0',
  [ACCESSIBLE]: '1.7',
};

/**
 * Returns a copy of a PDF that follows a standard. With `force`, one that cannot follow it stays as it is.
 * @throws ConversionError `CONVERSION_FAILED` with an issue for each obstacle
 */
async function conform(
  pdf: Pdf,
  standard: Standard,
  { force, linearize, obstacles: known = [] }: Finish,
): Promise<Finished> {
  const { bytes } = await pdf.objects();
  if (bytes > MAX_JSON) throw tooLargeError();
  const streams = await pdf.streams('all');
  if (streams.bytes > MAX_JSON) throw tooLargeError();
  const { target: update, reply } = await pdf.write('conform', { standard }, { streams: streams.path });
  const obstacles = [...(standard === ACCESSIBLE ? known : []), ...reply.obstacles];
  if (obstacles.length > 0) {
    const more = obstacles.length + reply.unnamed - NAMED_OBSTACLES;
    const named = [
      ...obstacles.slice(0, NAMED_OBSTACLES),
      ...(more > 0 ? [`There are ${more} more obstacles.`] : []),
    ];
    const warnings = named.map((each) => `The result is not ${standard}: ${each}`);
    if (force) return { pdf: await unclaim(pdf), warnings };
    const message = `The document cannot become ${standard}. ${named.join(' ')}`;
    const issues = obstacles.map(
      (obstacle) => new ConversionError('CONVERSION_FAILED', obstacle, { parameter: '--pdf-version' }),
    );
    throw new ConversionError('CONVERSION_FAILED', message, { parameter: '--pdf-version', issues });
  }
  const information = standard === 'PDF/A-4' ? null : undefined;
  const changes = { update, compress: true, linearize, version: VERSIONS[standard], information };
  return { pdf: await pdf.edit(changes), warnings: reply.warnings };
}

/** Removes the metadata with the claim to be accessible, which LibreOffice makes without a check. */
async function unclaim(pdf: Pdf): Promise<Pdf> {
  return (await pdf.marks()).isAccessible ? pdf.edit({ removeMetadata: true }) : pdf;
}

function tooLargeError(): ConversionError {
  return new ConversionError(
    'RESULT_TOO_LARGE',
    'The document has too many objects to check for a standard.',
  );
}
