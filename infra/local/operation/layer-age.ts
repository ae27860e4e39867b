import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../../../functions/shared/log.ts';

const DAY = 24 * 3600 * 1000;
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
