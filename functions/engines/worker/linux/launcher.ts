import { realpathSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Niceness increment (see nice(1)) of engines, because an engine serves one account and the server serves all. With
 * an increment of 5 and ten busy engines on two cores, the server's main thread still waited for up to 30 ms at a
 * time.
 */
const ENGINE_NICE = 15;
/** Niceness increment of download processes, between the server and the engines. */
export const DOWNLOAD_NICE = 5;

/**
 * Returns the command that starts engines in the session of this process, with a lower priority, so that busy ones
 * delay neither this process nor those of other accounts; see `layers/sandbox/launch.c`.
 */
export function launcherIn(layers: string, increment = ENGINE_NICE): readonly string[] {
  return [realpathSync(join(layers, 'sandbox/launch')), String(increment)];
}
