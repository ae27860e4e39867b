// Writes the tables into README.md: `npm run readme`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fill } from './fill.ts';

const file = join(import.meta.dirname, '../../README.md');
writeFileSync(file, fill(readFileSync(file, 'utf8')));
