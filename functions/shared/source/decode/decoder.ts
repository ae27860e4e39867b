import { fileURLToPath } from 'node:url';
import { WorkerPool, type WorkerRequest } from '../../../engines/worker/pool.ts';
import { sandboxedNode } from '../../../engines/worker/sandbox.ts';
import type { EngineDependencies } from '../../tool.ts';
import type { DecodeRequest } from './decode-file.ts';

/** Decodes a file as `decodeFile` does. */
export type Decode = (request: DecodeRequest, options: WorkerRequest) => Promise<number>;

export interface Decoder {
  readonly decode: Decode;
  close(): Promise<void>;
}

const SCRIPT = fileURLToPath(new URL('./worker.ts', import.meta.url));

/**
 * Decodes sources in sandboxed workers, because a few bytes of compressed data can need much time and memory. Sources are
 * requested without compression, so the workers only start when a server compresses anyway.
 */
export function createDecoder(
  dependencies: Pick<EngineDependencies, 'layers' | 'temporary' | 'launcher' | 'code' | 'sandbox' | 'size'>,
): Decoder {
  const { temporary, launcher, size } = dependencies;
  let pool: WorkerPool | undefined;
  const start = () =>
    new WorkerPool(sandboxedNode(dependencies, ['--max-old-space-size=64', SCRIPT]), {
      temporary,
      launcher,
      size,
      requests: 500,
      memory: 150,
      maxMemory: 400,
    });
  return {
    decode: (request, options) => {
      pool ??= start();
      return pool.run<number>(request, options);
    },
    close: async () => {
      await pool?.close();
    },
  };
}
