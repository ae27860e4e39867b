import { describe, type Log } from '../../functions/shared/log.ts';

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
