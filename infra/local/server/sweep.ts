import type { DiskStorage } from '../../../functions/platform/local/disk-storage.ts';
import { describe, type Log } from '../../../functions/shared/log.ts';
import type { SiteStores } from './compose.ts';

const HOUR = 3600 * 1000;
const DAY = 24 * HOUR;
const INTERVAL = HOUR / 12;

/** Removes expired results, and old rows of the database, now and every five minutes, until the returned function is called. */
export function sweepRegularly(
  storage: Pick<DiskStorage, 'sweep'>,
  siteStores: Pick<SiteStores, 'deleteOldRows'> | undefined,
  log: Log,
): () => void {
  const sweep = async () => {
    const failed = (cause: unknown) => log('sweep failed', { cause: describe(cause) }, 'error');
    // Files first: they take the disk space that the database may lack.
    await storage.sweep(DAY, HOUR).catch(failed);
    try {
      siteStores?.deleteOldRows();
    } catch (cause) {
      failed(cause);
    }
  };
  const timer = setInterval(sweep, INTERVAL);
  void sweep();
  return () => clearInterval(timer);
}
