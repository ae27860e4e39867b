import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ScriptDependencies, sandboxedClient } from '../../client.ts';
import type { WorkerRequest } from '../../worker/pool.ts';
import type { GraphOperations } from './operations.ts';

const SCRIPT = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** Creates the processes that read and change the objects of PDFs, as JSON of qpdf. */
export function createGraphs(dependencies: ScriptDependencies) {
  const limits = { heap: 1024, requests: 200, cost: 60, memory: 500, maxMemory: 1500 };
  const client = sandboxedClient(dependencies, { script: SCRIPT, ...limits });

  function run<Reply>(
    operation: keyof GraphOperations,
    args: GraphOperations[typeof operation],
    files: { readonly inputs: readonly string[]; readonly outputs?: readonly string[] },
    { directory, account, signal, onQueued }: WorkerRequest,
  ): Promise<Reply> {
    const names = (paths: readonly string[] = []) => paths.map((path) => relative(directory, path));
    const work = { operation, arguments: args, inputs: names(files.inputs), outputs: names(files.outputs) };
    return client.run<Reply>(work, { account, signal, directory, ...(onQueued && { onQueued }) });
  }

  return { run, close: () => client.close() };
}

export type Graphs = ReturnType<typeof createGraphs>;
