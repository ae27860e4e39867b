import type { DiskStorage } from '../../../functions/platform/local/disk-storage.ts';
import { describe, type Log } from '../../../functions/shared/log.ts';

const HOUR = 3600 * 1000;
const DAY = 24 * HOUR;
const INTERVAL = HOUR / 12;

/** Removes expired results now and every five minutes, until the returned function is called. */
export function sweepRegularly(storage: Pick<DiskStorage, 'sweep'>, log: Log): () => void {
  const sweep = () =>
    storage
      .sweep(DAY, HOUR)
      .catch((cause: unknown) => log('sweep failed', { cause: describe(cause) }, 'error'));
  const timer = setInterval(sweep, INTERVAL);
  sweep();
  return () => clearInterval(timer);
}
