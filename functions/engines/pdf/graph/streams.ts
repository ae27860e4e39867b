import { stat } from 'node:fs/promises';
import { relative } from 'node:path';
import type { WorkerRequest } from '../../worker/pool.ts';
import type { Qpdf } from '../qpdf/qpdf.ts';
import type { Graphs } from './client.ts';
import type { GraphOperations } from './operations.ts';

/**
 * Maximum bytes of the JSON with the objects of a document, or with the data of streams. Reading it takes several times
 * as much memory.
 */
export const MAX_JSON = 100_000_000;

/**
 * Writes the data of a document's streams as JSON. `graph` is the JSON of its objects. Returns the path, or `undefined`
 * if there are too many data.
 */
export async function readStreams(
  { qpdf, graphs }: { readonly qpdf: Qpdf; readonly graphs: Graphs },
  { source, graph, of }: { source: string; graph: string; of: GraphOperations['streams']['of'] },
  request: WorkerRequest,
): Promise<string | undefined> {
  const args = { graph: relative(request.directory, graph), of };
  const streamsJson = await graphs.run<string[]>('streams', args, { inputs: [graph] }, request);
  const target = graph.replace(/\.json$/, '-streams.json');
  await qpdf.edit({ source, target, streamsJson }, request);
  return (await stat(target)).size > MAX_JSON ? undefined : target;
}
