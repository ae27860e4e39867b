import { stat } from 'node:fs/promises';
import { relative } from 'node:path';
import { ConversionError } from '../../shared/errors.ts';
import { fileContains } from '../../shared/source/file-contains.ts';
import type { WorkerRequest } from '../worker/pool.ts';
import { levelOf, type Standard } from './graph/archive/standards.ts';
import type { Archived } from './graph/operations.ts';
import { MAX_JSON, readStreams } from './graph/streams.ts';
import type { PdfPrograms } from './pdf.ts';

/** A PDF that follows a standard, or the same one with warnings that say why it does not. */
export interface ArchivedPdf {
  readonly path: string;
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

/** Makes finished PDFs follow PDF/A or PDF/UA. */
export function createArchiver({ qpdf, graphs }: PdfPrograms) {
  /**
   * Rewrites a PDF so that it follows a standard. With `force`, one that cannot follow it stays as it is.
   * @throws ConversionError `CONVERSION_FAILED` with an issue for each obstacle
   */
  async function archive(
    source: string,
    standard: Standard,
    request: WorkerRequest,
    { force = false, linearize, obstacles: known = [] }: ArchiveSettings = {},
  ): Promise<ArchivedPdf> {
    const file = (suffix: string) => source.replace(/(\.pdf)?$/, suffix);
    const [graph, update, target] = [file('-objects.json'), file('-archive.json'), file('-archive.pdf')];
    const name = (path: string) => relative(request.directory, path);
    await qpdf.edit({ source, target: graph, json: true }, request);
    if ((await stat(graph)).size > MAX_JSON) throw tooLargeError();
    const streams = await readStreams({ qpdf, graphs }, { source, graph, of: 'all' }, request);
    if (streams === undefined) throw tooLargeError();
    const args = { graph: name(graph), streams: name(streams), target: name(update), standard };
    const files = { inputs: [graph, streams], outputs: [update] };
    const { obstacles: found, warnings } = await graphs.run<Archived>('archive', args, files, request);
    const obstacles = [...known, ...found];
    if (obstacles.length > 0) {
      const unmet = obstacles.map((each) => `The result is not ${standard}: ${each}`);
      if (force) return { path: await unclaim(source, request), warnings: unmet };
      throw obstacleError(standard, obstacles);
    }
    const { part } = levelOf(standard);
    const version = VERSIONS[part];
    const information = part === 4 ? null : undefined;
    const edit = { source, target, update, compress: true, linearize, version, information };
    await qpdf.edit(edit, request);
    return { path: target, warnings };
  }

  /** Removes the metadata with the claim to be accessible, which LibreOffice makes without a check. */
  async function unclaim(source: string, request: WorkerRequest): Promise<string> {
    if (!(await fileContains(source, 'pdfuaid:part'))) return source;
    const target = source.replace(/(\.pdf)?$/, '-unclaimed.pdf');
    await qpdf.edit({ source, target, removeMetadata: true }, request);
    return target;
  }

  return { archive };
}

export type Archiver = ReturnType<typeof createArchiver>;

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
