import { ConversionError } from '../../errors.ts';
import type { WorkerProcess } from '../process.ts';

/** Limits of a worker during a request. */
export interface ExcessLimits {
  /** Resident MiB of the worker and its child processes. */
  readonly memory: number;
  /** Bytes of its files on disk. */
  readonly disk: number;
}

/** Milliseconds between two checks of the memory. */
const MEMORY_INTERVAL = 250;
/** Milliseconds between two checks of the disk space. Short requests need none. */
const DISK_INTERVAL = 1000;

/** Monitors a worker during a request. `signal` aborts with `CONVERSION_FAILED` when the worker exceeds a limit. */
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
