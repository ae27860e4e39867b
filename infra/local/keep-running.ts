import { describe, type Log } from '../../functions/shared/log.ts';

/**
 * Logs uncaught errors instead of exiting. A conversion is isolated in its worker, so an error in a
 * timer or callback here affects at most one request. Without this, it would end all of them.
 */
export function keepRunning(log: Log): void {
  // When whoever reads the log has exited, every line fails. To log that would fail again, and so on.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  process.on('uncaughtException', (error) => log('uncaught error', { cause: describe(error) }, 'error'));
  process.on('unhandledRejection', (reason) =>
    log('unhandled rejection', { cause: describe(reason) }, 'error'),
  );
}
