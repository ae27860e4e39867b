import { ConversionError } from '../../errors.ts';
import type { WorkerProcess } from '../process.ts';

/** Limits of a worker during a request. */
export interface ExcessLimits {
  /** Resident MiB of the worker and its child processes. */
  readonly memory: number;
  /** Bytes of its files on disk. */
  readonly disk: number;
  /** Threads of the worker and its child processes. */
  readonly threads: number;
}

/** Milliseconds between two checks of the memory and the threads. */
const MEMORY_INTERVAL = 250;
/** Milliseconds between two checks of the disk space and what is not in any directory. Short requests need none. */
const DISK_INTERVAL = 1000;

const MIB = 2 ** 20;

/** Monitors a worker during a request. `signal` aborts with `CONVERSION_FAILED` when the worker exceeds a limit. */
export function watchExcess(
  worker: WorkerProcess,
  limits: ExcessLimits,
): { readonly signal: AbortSignal; stop(): void } {
  const excess = new AbortController();
  const mostThreads = limits.threads;
  const checkMemory = onceAtATime(async () => {
    const { memory, threads } = await worker.groupState({ mostThreads, isThorough: false });
    if (memory > limits.memory) excess.abort(excessError('memory'));
    if (threads > limits.threads) excess.abort(excessError('thread'));
  });
  const checkDisk = onceAtATime(async () => {
    const examining = worker.groupState({ mostThreads, isThorough: true });
    const disk = await worker.diskUsage();
    // The other figure may take longer, because a thread finds it for all workers.
    if (disk > limits.disk) excess.abort(excessError('disk space'));
    const { unlinked } = await examining;
    if (unlinked.memory > limits.memory * MIB) excess.abort(excessError('memory'));
    if (disk + unlinked.disk > limits.disk) excess.abort(excessError('disk space'));
  });
  const timers = [setInterval(checkMemory, MEMORY_INTERVAL), setInterval(checkDisk, DISK_INTERVAL)];
  return {
    signal: excess.signal,
    stop: () => {
      for (const timer of timers) clearInterval(timer);
    },
  };
}

/** Skips calls while an earlier one runs. A failed check is repeated at the next call. */
function onceAtATime(check: () => Promise<void>): () => Promise<void> {
  let isRunning = false;
  return async () => {
    if (isRunning) return;
    isRunning = true;
    await check().catch(() => {});
    isRunning = false;
  };
}

function excessError(what: string): ConversionError {
  return new ConversionError('CONVERSION_FAILED', `The conversion exceeded its ${what} limit.`);
}
