import { ownMemory, processTree, readStat } from '../../../engines/worker/linux/proc.ts';
import { ConversionError } from '../../../shared/errors.ts';
import { withAnySignal } from '../../../shared/timeout.ts';

/** Minimum and maximum milliseconds between two memory checks. */
const [MIN_INTERVAL, MAX_INTERVAL] = [20, 250];
/**
 * Maximum MiB that a page's script can allocate per millisecond. The less memory is left, the sooner the next check.
 */
const MAX_ALLOCATION_RATE = 4;
/**
 * Fraction of the function's memory above which a conversion fails. At 100 %, Lambda would kill the whole
 * environment.
 */
const MEMORY_FRACTION = 0.9;

/** Runs work with a signal that also aborts when this process and its descendants approach `limit` MiB. */
export async function withMemoryGuard<Value>(
  limit: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const guard = new AbortController();
  const look = () => {
    const left = MEMORY_FRACTION * limit - usedMemory(MEMORY_FRACTION * limit);
    if (left < 0) return guard.abort(memoryError());
    timer = setTimeout(look, Math.min(MAX_INTERVAL, Math.max(MIN_INTERVAL, left / MAX_ALLOCATION_RATE)));
  };
  let timer = setTimeout(look, MIN_INTERVAL);
  try {
    return await withAnySignal([signal, guard.signal], work);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Returns the MiB in use. Resident memory is cheap to read but counts shared pages once per process, so it is
 * returned only while it is far below the limit.
 */
function usedMemory(limit: number): number {
  const pids = processTree(process.pid);
  const resident = pids.reduce((sum, pid) => sum + readStat(pid).memory, 0);
  return limit - resident > MAX_INTERVAL * MAX_ALLOCATION_RATE ? resident : ownMemory(pids);
}

function memoryError(): ConversionError {
  return new ConversionError('CONVERSION_FAILED', 'The conversion exceeded its memory limit.');
}
