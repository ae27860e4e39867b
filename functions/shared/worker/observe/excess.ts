import { ConversionError } from '../../errors.ts';
import type { WorkerProcess } from '../process.ts';

/** What a worker may take while it runs a request. */
export interface ExcessLimits {
  /** Resident MiB of the worker and its child processes. */
  readonly memory: number;
  /** Bytes on disk of its files. */
  readonly disk: number;
}

/** Milliseconds between two checks of the memory. */
const MEMORY_INTERVAL = 250;
/** Milliseconds between two checks of the disk space, of which short requests need none. */
const DISK_INTERVAL = 1000;

/** Watches a worker that runs a request. `signal` fires with a `CONVERSION_FAILED` when it takes more than it may. */
export function watchExcess(
  worker: WorkerProcess,
  limits: ExcessLimits,
): { readonly signal: AbortSignal; stop(): void } {
  const excess = new AbortController();
  const checkMemory = () => {
    if (worker.groupMemory > limits.memory) excess.abort(excessError('memory'));
  };
  let isChecking = false;
  const checkDisk = async () => {
    if (isChecking) return;
    isChecking = true;
    if ((await worker.diskUsage()) > limits.disk) excess.abort(excessError('disk space'));
    isChecking = false;
  };
  const timers = [setInterval(checkMemory, MEMORY_INTERVAL), setInterval(checkDisk, DISK_INTERVAL)];
  return {
    signal: excess.signal,
    stop: () => {
      for (const timer of timers) clearInterval(timer);
    },
  };
}

function excessError(what: string): ConversionError {
  return new ConversionError('CONVERSION_FAILED', `The conversion exceeded its ${what} limit.`);
}
