import { ConversionError } from '../errors.ts';
import { ownMemory, processTree, readStat } from '../worker/linux/proc.ts';

/** Milliseconds between two looks at the memory. */
const INTERVAL = 250;
/** Share of the function's memory at which a conversion fails: Lambda ends the whole environment at all of it. */
const SHARE = 0.9;

/** Runs work with a signal that also aborts when this process and its descendants use more memory than `limit` MiB allow. */
export async function withMemoryGuard<Value>(
  limit: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const guard = new AbortController();
  const timer = setInterval(() => {
    if (exceeds(SHARE * limit)) guard.abort(memoryError());
  }, INTERVAL);
  try {
    return await work(AbortSignal.any([signal, guard.signal]));
  } finally {
    clearInterval(timer);
  }
}

function exceeds(limit: number): boolean {
  const pids = processTree(process.pid);
  // Resident memory counts shared pages once per process. It is cheap to read, and enough while it is below the limit.
  const resident = pids.reduce((sum, pid) => sum + readStat(pid).memory, 0);
  return resident > limit && ownMemory(pids) > limit;
}

function memoryError(): ConversionError {
  return new ConversionError('CONVERSION_FAILED', 'The conversion needs more memory than is allowed.');
}
