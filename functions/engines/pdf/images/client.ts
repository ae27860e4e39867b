import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ScriptDependencies, sandboxedClient } from '../../client.ts';
import type { WorkerRequest } from '../../worker/pool.ts';
import type { Reduced } from '../graph/operations.ts';

/** The operation of the worker. It is not part of `graph`, because on Lambda only pdftools has sharp. */
export interface ImageOperations {
  /**
   * Writes changes that reduce images to `target`, with those of `previous`. `streams` has the data of the images. Returns
   * whether there are any.
   */
  readonly reduce: {
    readonly graph: string;
    readonly streams: string;
    readonly previous: string | undefined;
    readonly target: string;
    readonly images: readonly Reduced[];
    readonly quality: number;
  };
}

const SCRIPT = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** Creates the processes that reduce the images of PDFs. */
export function createImages(dependencies: ScriptDependencies) {
  const limits = { heap: 1024, requests: 200, cost: 60, memory: 500, maxMemory: 1500 };
  const client = sandboxedClient(dependencies, { script: SCRIPT, ...limits });

  /** See `ImageOperations`. */
  function reduce(
    { graph, streams, previous, target, ...rest }: ImageOperations['reduce'],
    { directory, account, signal }: WorkerRequest,
  ): Promise<boolean> {
    const name = (path: string) => relative(directory, path);
    const inputs = [graph, streams, ...(previous ? [previous] : [])].map(name);
    const files = { graph: inputs[0]!, streams: inputs[1]!, previous: inputs[2], target: name(target) };
    const work = { operation: 'reduce', arguments: { ...files, ...rest }, inputs, outputs: [files.target] };
    return client.run<boolean>(work, { account, signal, directory });
  }

  return { reduce, close: () => client.close() };
}
