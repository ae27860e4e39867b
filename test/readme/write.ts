// Writes the generated tables into every README: `npm run readme`.
import { readFileSync, writeFileSync } from 'node:fs';
import { fill, readmes } from './tables.ts';

for (const path of readmes()) {
  const text = readFileSync(path, 'utf8');
  const filled = fill(text);
  if (filled !== text) writeFileSync(path, filled);
}
