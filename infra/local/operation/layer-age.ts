import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DAY } from '../../../functions/shared/dates.ts';
import type { Log } from '../../../functions/shared/log.ts';

/** Age of a layer that should be rebuilt, in days. */
const OLD = 30;

/**
 * Logs how many days ago the oldest layer was built. Logs a warning when the layers should be rebuilt for security
 * updates.
 */
export function reportLayerAge(layers: string, names: readonly string[], log: Log, now = Date.now()): void {
  const built = names.map(
    (name) => statSync(join(layers, name, '.recipe'), { throwIfNoEntry: false })?.mtimeMs ?? now,
  );
  const days = Math.floor((now - Math.min(now, ...built)) / DAY);
  log('layers', { days });
  if (days >= OLD) log('layers are old', { days, hint: 'npm run layers -- --update' }, 'warn');
}
