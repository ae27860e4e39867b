import { fileURLToPath } from 'node:url';
import { type EngineClient, type ScriptDependencies, sandboxedClient } from '../../client.ts';

const SCRIPT = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** Creates the processes that read and change the objects of PDFs, as JSON of qpdf; see `GraphOperations`. */
export function createGraphs(dependencies: ScriptDependencies): EngineClient {
  const limits = { heap: 1024, requests: 200, cost: 60, memory: 500, maxMemory: 1500 };
  return sandboxedClient(dependencies, { script: SCRIPT, ...limits });
}
