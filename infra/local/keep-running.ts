import { describe, type Log } from '../../functions/shared/log.ts';

/**
 * Logs errors that nothing caught, instead of ending the process. A conversion is isolated in its worker, so an error in a
 * timer or callback here concerns at most one request; without this it would end all of them.
 */
export function keepRunning(log: Log): void {
  process.on('uncaughtException', (error) =>
    log('uncaught error', { level: 'error', cause: describe(error) }),
  );
  process.on('unhandledRejection', (reason) =>
    log('unhandled rejection', { level: 'error', cause: describe(reason) }),
  );
}
