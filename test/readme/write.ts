// Writes the generated tables and the measured sections into every README: `npm run readme`.
import { readFileSync, writeFileSync } from 'node:fs';
import { fill, readmes } from './tables.ts';

for (const path of readmes()) {
  const text = readFileSync(path, 'utf8');
  const filled = fill(text, path);
  if (filled !== text) writeFileSync(path, filled);
}
