import { stat } from 'node:fs/promises';
import { relative } from 'node:path';
import { ConversionError } from '../../shared/errors.ts';
import type { EngineDependencies } from '../../shared/tool.ts';
import type { WorkerRequest } from '../worker/pool.ts';
import { levelOf, type Standard } from './graph/archive/standards.ts';
import { createGraphs } from './graph/client.ts';
import type { Archived } from './graph/operations.ts';
import { createQpdf } from './qpdf/qpdf.ts';

/** Maximum bytes of the JSON with the objects of a document, or with their data. */
const MAX_JSON = 100_000_000;

/** A PDF that follows a standard, or the same one with warnings that say why it does not. */
export interface ArchivedPdf {
  readonly path: string;
  readonly warnings: readonly string[];
}

/** Makes finished PDFs follow PDF/A. */
export function createArchiver(dependencies: EngineDependencies) {
  const qpdf = createQpdf(dependencies);
  const graphs = createGraphs(dependencies);

  /**
   * Rewrites a PDF so that it follows a standard. With `force`, one that cannot follow it stays as it is.
   * @throws ConversionError `CONVERSION_FAILED` with an issue for each obstacle
   */
  async function archive(
    source: string,
    standard: Standard,
    request: WorkerRequest,
    { force = false, isUnordered = false }: { readonly force?: boolean; readonly isUnordered?: boolean } = {},
  ): Promise<ArchivedPdf> {
    const file = (suffix: string) => source.replace(/(\.pdf)?$/, suffix);
    const [graph, streams, update, target] = [
      file('-objects.json'),
      file('-streams.json'),
      file('-archive.json'),
      file('-archive.pdf'),
    ];
    const name = (path: string) => relative(request.directory, path);
    await qpdf.edit({ source, target: graph, json: true }, request);
    await checkSize(graph);
    const needed = await graphs.run<string[]>(
      'streams',
      { graph: name(graph) },
      { inputs: [graph] },
      request,
    );
    await qpdf.edit({ source, target: streams, streamsJson: needed }, request);
    await checkSize(streams);
    const args = { graph: name(graph), streams: name(streams), target: name(update), standard };
    const files = { inputs: [graph, streams], outputs: [update] };
    const { obstacles, warnings } = await graphs.run<Archived>('archive', args, files, request);
    if (obstacles.length > 0) {
      if (force)
        return { path: source, warnings: obstacles.map((each) => `The result is not ${standard}: ${each}`) };
      throw obstacleError(standard, obstacles);
    }
    const version = levelOf(standard).part === 1 ? '1.4' : '1.7';
    await qpdf.edit({ source, target, update, compress: true, linearize: !isUnordered, version }, request);
    return { path: target, warnings };
  }

  return {
    archive,
    close: async () => {
      await Promise.all([qpdf.close(), graphs.close()]);
    },
  };
}

export type Archiver = ReturnType<typeof createArchiver>;

async function checkSize(path: string): Promise<void> {
  if ((await stat(path)).size <= MAX_JSON) return;
  throw new ConversionError('RESULT_TOO_LARGE', 'The document has too many objects to be checked for PDF/A.');
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
