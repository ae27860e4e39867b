import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Decode } from '../../shared/source/decode-file.ts';
import { type ScriptDependencies, sandboxedPool } from '../worker/sandbox.ts';

export interface Decoder {
  readonly decode: Decode;
  close(): Promise<void>;
}

const SCRIPT = fileURLToPath(new URL('./worker.ts', import.meta.url));

/**
 * Decodes sources in sandboxed workers, because a few bytes of compressed data can take a lot of time and memory.
 * Sources are requested without compression, so the workers start only when a server compresses anyway.
 */
export function createDecoder(dependencies: ScriptDependencies): Decoder {
  const limits = { heap: 64, requests: 500, cost: 50, memory: 150, maxMemory: 400 };
  const client = sandboxedPool(dependencies, { script: SCRIPT, ...limits });
  return {
    decode: (request, options) => {
      const [path, target] = [request.path, request.target].map((file) => relative(options.directory, file));
      const args = { ...request, path: path!, target: target! };
      const files = { inputs: [path!], outputs: [target!] };
      return client.run<number>({ operation: 'decode', arguments: args, ...files }, options);
    },
    close: () => client.close(),
  };
}
