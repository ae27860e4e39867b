import { realpathSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Increments as in nice(1). The server serves all accounts and an engine only one, so engines get a lower priority. Beside ten
 * busy engines on two cores, the server's main thread still waited for up to 30 ms at a time with an increment of 5.
 */
const OF_ENGINES = 15;
/** Between the server, which serves all accounts, and the engines. */
export const OF_DOWNLOADS = 5;

/**
 * Returns the command that starts engines in the session of this process, with a lower priority, so that busy ones
 * delay neither this process nor those of other accounts; see `layers/sandbox/launch.c`.
 */
export function launcherIn(layers: string, increment = OF_ENGINES): readonly string[] {
  return [realpathSync(join(layers, 'sandbox/launch')), String(increment)];
}
