import { describe, type Log } from '../../functions/shared/log.ts';

/**
 * Logs uncaught errors instead of exiting. A conversion is isolated in its worker, so an error in a
 * timer or callback here affects at most one request. Without this, it would end all of them.
 */
export function keepRunning(log: Log): void {
  process.on('uncaughtException', (error) =>
    log('uncaught error', { level: 'error', cause: describe(error) }),
  );
  process.on('unhandledRejection', (reason) =>
    log('unhandled rejection', { level: 'error', cause: describe(reason) }),
  );
}
