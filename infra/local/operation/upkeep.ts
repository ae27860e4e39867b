import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { DiskStorage } from '../../../functions/platform/local/disk-storage.ts';
import { describe, type Log } from '../../../functions/shared/log.ts';
import { DAY, HOUR, MINUTE } from '../../../functions/shared/time.ts';

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
  siteStores: { deleteExpired(): void } | undefined,
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

/** Age of a layer that should be rebuilt, in days. */
const OLD = 30;

/**
 * Logs how many days ago the oldest layer was built. Logs a warning when the layers should be rebuilt for security
 * updates.
 */
export function reportLayerAge(layers: string, names: readonly string[], log: Log, now = Date.now()): void {
  const days = layerAge(layers, names, now);
  log('layers', { days });
  if (days >= OLD) log('layers are old', { days, hint: 'npm run layers -- --update' }, 'warn');
}

/** Returns how many days ago the oldest layer was built. A layer that is missing will be new. */
export function layerAge(layers: string, names: readonly string[], now = Date.now()): number {
  const built = names.map(
    (name) => statSync(join(layers, name, '.recipe'), { throwIfNoEntry: false })?.mtimeMs ?? now,
  );
  return Math.floor((now - Math.min(now, ...built)) / DAY);
}

/**
 * Logs uncaught errors instead of exiting. A conversion is isolated in its worker, so an error in a timer or callback
 * here affects at most one request. Without this, it would end all requests.
 */
export function keepRunning(log: Log): void {
  // When the reader of the log has exited, every write fails. Logging that error would fail again, endlessly.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  process.on('uncaughtException', (error) => log('uncaught error', { cause: describe(error) }, 'error'));
  process.on('unhandledRejection', (reason) =>
    log('unhandled rejection', { cause: describe(reason) }, 'error'),
  );
}
