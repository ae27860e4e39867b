import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConversionError } from '../../../shared/errors.ts';
import { type ScriptDependencies, sandboxedClient, withoutObserver } from '../../client.ts';
import type { WorkerRequest } from '../../worker/pool.ts';
import type { ServedFile } from '../proxy/served-files.ts';
import type { UnpackedEntry } from './unpack.ts';

/** Unpacks an archive and returns its entries by name. */
export type Unpack = (path: string, request: WorkerRequest) => Promise<Map<string, ServedFile>>;

const SCRIPT = fileURLToPath(new URL('./worker.ts', import.meta.url));
const TARGET = 'unpacked';

/** Unpacks archives in sandboxed workers, which start with the first archive. */
export function createUnpacker(dependencies: ScriptDependencies): {
  readonly unpack: Unpack;
  close(): Promise<void>;
} {
  const limits = { heap: 256, requests: 100, cost: 60, memory: 300, maxMemory: 800 };
  const client = sandboxedClient(withoutObserver(dependencies), { script: SCRIPT, ...limits });
  return {
    unpack: async (path, request) => {
      const name = basename(path);
      const entries = await client.run<UnpackedEntry[]>(
        {
          operation: 'unpack',
          arguments: { path: name, target: TARGET },
          inputs: [name],
          outputs: [TARGET],
        },
        request,
      );
      const file = join(request.directory, TARGET);
      return checked(entries, file, (await stat(file)).size);
    },
    close: () => client.close(),
  };
}

/** Checks a worker's answer, which is not trusted because the worker has read a hostile archive. */
function checked(entries: readonly UnpackedEntry[], file: string, size: number): Map<string, ServedFile> {
  const isPlace = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
  const isValid = ({ name, start, bytes }: UnpackedEntry) =>
    typeof name === 'string' && isPlace(start) && isPlace(bytes) && start + bytes <= size;
  if (!Array.isArray(entries) || !entries.every(isValid)) {
    throw new ConversionError('CORRUPT_SOURCE', 'The archive is damaged.');
  }
  return new Map(entries.map(({ name, start, bytes }) => [name, { file, start, bytes }]));
}
