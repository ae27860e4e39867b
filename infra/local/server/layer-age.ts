import { statSync } from 'node:fs';
import { join } from 'node:path';

const DAY = 24 * 3600 * 1000;
const OLD = 30;

/** Returns how many days ago the oldest of the layers was built, and whether it should be built again for security updates. */
export function layerAge(
  layers: string,
  names: readonly string[],
  now = Date.now(),
): { days: number; old: boolean } {
  const built = names.map(
    (name) => statSync(join(layers, name, '.recipe'), { throwIfNoEntry: false })?.mtimeMs ?? now,
  );
  const days = Math.floor((now - Math.min(now, ...built)) / DAY);
  return { days, old: days >= OLD };
}
