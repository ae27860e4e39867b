import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fill } from './fill.ts';
import { tables } from './tables.ts';

const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');

it('holds the tables that the code makes (npm run readme writes them)', () => {
  expect(fill(readme)).toBe(readme);
});

it('holds a table for every tool, the errors and the limits', () => {
  for (const name of tables().keys()) expect(readme).toContain(`<!-- table: ${name} -->`);
});

it('names no script that package.json has not', () => {
  const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));

  const named = [...readme.matchAll(/npm run ([\w:]+)/g)].map((match) => match[1]!);

  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});
