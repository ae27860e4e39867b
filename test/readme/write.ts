// Writes the generated tables and the measured sections into every README: `npm run readme`.
import { readFileSync, writeFileSync } from 'node:fs';
import { replaceSections } from '../run/report.ts';
import { permissionTable } from './permissions.ts';
import { fill, readmes } from './tables.ts';

for (const path of readmes()) {
  const text = readFileSync(path, 'utf8');
  const filled = replaceSections(fill(text, path), 'permissions', permissionTable);
  if (filled !== text) writeFileSync(path, filled);
}
