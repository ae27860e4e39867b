import { realpathSync } from 'node:fs';
import { join } from 'node:path';

/**
 * An increment as in nice(1). The server serves all accounts and an engine only one, so engines get a lower priority. Beside ten
 * busy engines on two cores, the server's main thread still waited for up to 30 ms at a time with an increment of 5.
 */
const LOWER_PRIORITY = 15;

/**
 * Returns the command that starts engines in the session of this process, with a lower priority, so that busy ones
 * delay neither this process nor those of other accounts; see `layers/sandbox/launch.c`.
 */
export function launcherIn(layers: string): readonly string[] {
  return [realpathSync(join(layers, 'sandbox/launch')), String(LOWER_PRIORITY)];
}
