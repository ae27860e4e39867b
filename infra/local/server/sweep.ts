import type { DiskStorage } from '../../../functions/platform/local/disk-storage.ts';
import { HOUR, MINUTE } from '../../../functions/shared/dates.ts';
import { describe, type Log } from '../../../functions/shared/log.ts';
import type { SiteStores } from './compose.ts';

/** Interval between two sweeps, in milliseconds. */
const INTERVAL = 5 * MINUTE;

/**
 * Deletes expired results and expired database items, now and every five minutes, until the returned function is
 * called.
 */
export function sweepRegularly(
  storage: Pick<DiskStorage, 'sweep'>,
  /** How long results are kept, in milliseconds. */
  resultLife: number,
  siteStores: Pick<SiteStores, 'deleteExpired'> | undefined,
  log: Log,
): () => void {
  const sweep = async () => {
    const failed = (cause: unknown) => log('sweep failed', { cause: describe(cause) }, 'error');
    // Files come first, because they take up disk space that the database may need.
    await storage.sweep(resultLife, Math.min(HOUR, resultLife)).catch(failed);
    try {
      siteStores?.deleteExpired();
    } catch (cause) {
      failed(cause);
    }
  };
  const timer = setInterval(sweep, INTERVAL);
  void sweep();
  return () => clearInterval(timer);
}
