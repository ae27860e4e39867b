import { ConversionError } from '../../shared/errors.ts';
import type { WorkerProcess } from './process.ts';

/** Limits of a worker and its child processes. */
export interface ExcessLimits {
  /** Resident MiB of the worker and its child processes. */
  readonly memory: number;
  /** Bytes of its files on disk. */
  readonly disk: number;
  /** Threads of the worker and its child processes. */
  readonly threads: number;
}

/**
 * Milliseconds between two checks: of memory and threads, and of disk space and deleted files. Short requests need no
 * check of the latter.
 */
const INTERVALS = {
  request: { memory: 250, disk: 1000 },
  // An idle worker does nothing, unless it is compromised.
  idle: { memory: 2000, disk: 5000 },
} as const;

const MIB = 2 ** 20;

/** Monitors a worker. `signal` aborts with `CONVERSION_FAILED` when the worker exceeds a limit. */
export function watchExcess(
  worker: WorkerProcess,
  limits: ExcessLimits,
  during: keyof typeof INTERVALS = 'request',
): { readonly signal: AbortSignal; stop(): void } {
  const excess = new AbortController();
  const maxThreads = limits.threads;
  const checkMemory = onceAtATime(async () => {
    const { memory, threads } = await worker.groupState({ maxThreads, isThorough: false });
    if (memory > limits.memory) excess.abort(excessError('memory'));
    if (threads > limits.threads) excess.abort(excessError('thread'));
  });
  const checkDisk = onceAtATime(async () => {
    const examining = worker.groupState({ maxThreads, isThorough: true });
    const disk = await worker.diskUsage();
    // The disk space may arrive later, because one thread measures it for all workers.
    if (disk > limits.disk) excess.abort(excessError('disk space'));
    const { unlinked } = await examining;
    if (unlinked.memory > limits.memory * MIB) excess.abort(excessError('memory'));
    if (disk + unlinked.disk > limits.disk) excess.abort(excessError('disk space'));
  });
  const { memory, disk } = INTERVALS[during];
  const timers = [setInterval(checkMemory, memory).unref(), setInterval(checkDisk, disk).unref()];
  return {
    signal: excess.signal,
    stop: () => {
      for (const timer of timers) clearInterval(timer);
    },
  };
}

/** Skips calls while an earlier one is running. A failed check is repeated by the next call. */
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
