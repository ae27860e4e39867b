import { ConversionError } from '../../shared/errors.ts';
import { fileContains } from '../../shared/source/file-contains.ts';
import { levelOf, type Standard } from './graph/archive/standards.ts';
import { MAX_JSON, type Pdf } from './pdf.ts';

/** A PDF that follows a standard, or the same one with warnings that say why it does not. */
export interface ArchivedPdf {
  readonly pdf: Pdf;
  readonly warnings: readonly string[];
}

/** The version of PDF that each part of PDF/A is based on, or PDF/UA-1. */
const VERSIONS = { 0: '1.7', 1: '1.4', 2: '1.7', 3: '1.7', 4: '2.0' } as const;

interface ArchiveSettings {
  readonly force?: boolean;
  readonly linearize?: boolean;
  /** Obstacles that were found before. */
  readonly obstacles?: readonly string[];
}

/**
 * Returns a copy of a finished PDF that follows a standard. With `force`, one that cannot follow it stays as it is.
 * @throws ConversionError `CONVERSION_FAILED` with an issue for each obstacle
 */
export async function archivePdf(
  pdf: Pdf,
  standard: Standard,
  { force = false, linearize, obstacles: known = [] }: ArchiveSettings = {},
): Promise<ArchivedPdf> {
  const { bytes } = await pdf.objects();
  if (bytes > MAX_JSON) throw tooLargeError();
  const streams = await pdf.streams('all');
  if (streams.bytes > MAX_JSON) throw tooLargeError();
  const { target: update, reply } = await pdf.write('archive', { standard }, { streams: streams.path });
  const obstacles = [...known, ...reply.obstacles];
  if (obstacles.length > 0) {
    const warnings = obstacles.map((each) => `The result is not ${standard}: ${each}`);
    if (force) return { pdf: await unclaim(pdf), warnings };
    throw obstacleError(standard, obstacles);
  }
  const { part } = levelOf(standard);
  const information = part === 4 ? null : undefined;
  const changes = { update, compress: true, linearize, version: VERSIONS[part], information };
  return { pdf: await pdf.edit(changes), warnings: reply.warnings };
}

/** Removes the metadata with the claim to be accessible, which LibreOffice makes without a check. */
async function unclaim(pdf: Pdf): Promise<Pdf> {
  return (await fileContains(pdf.path, 'pdfuaid:part')) ? pdf.edit({ removeMetadata: true }) : pdf;
}

function tooLargeError(): ConversionError {
  return new ConversionError(
    'RESULT_TOO_LARGE',
    'The document has too many objects to check for a standard.',
  );
}

/** Obstacles that the message names. The list of issues has all. */
const NAMED_OBSTACLES = 5;

function obstacleError(standard: Standard, obstacles: readonly string[]): ConversionError {
  const more = obstacles.length - NAMED_OBSTACLES;
  const named = obstacles.slice(0, NAMED_OBSTACLES).join(' ');
  const message = `The document cannot become ${standard}. ${named}${more > 0 ? ` There are ${more} more obstacles.` : ''}`;
  const issues = obstacles.map(
    (obstacle) => new ConversionError('CONVERSION_FAILED', obstacle, { parameter: '--pdf-version' }),
  );
  return new ConversionError('CONVERSION_FAILED', message, { parameter: '--pdf-version', issues });
}
