import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeReadme } from './readme.ts';
import type { Row } from './row.ts';

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'readme-'));
  file = join(directory, 'README.md');
  const section = (name: string) => `<!-- measured: ${name} -->\nold\n<!-- end -->\n`;
  writeFileSync(file, `Before.\n${section('one machine')}Between.\n${section('other')}After.\n`);
});

afterEach(() => rmSync(directory, { recursive: true }));

const row = { name: 'x', title: 'an attack', figures: 'tried', target: '0' } as Row;
const run = { deployment: 'one machine', minutes: 3, rows: [] };

it('replaces the table of one deployment, with the rows that failed', () => {
  const rows = [
    { row, reached: { figure: '0 of 7', failures: [] }, seconds: 5 },
    { row, reached: { figure: '2 of 7', failures: ['one', 'two'] }, seconds: 6 },
  ];

  writeReadme({ ...run, rows }, file);

  const text = readFileSync(file, 'utf8');
  expect(text).toContain(
    '| ✓ | an attack | tried | 0 | 0 of 7 | 5 s |\n| ✗ | an attack | tried | 0 | 2 of 7 | 6 s |',
  );
  expect(text).toMatch(/^Before\.\n<!-- measured: one machine -->\n\nOne run of 2 rows in 3 minutes/);
  expect(text).toMatch(/<!-- end -->\nBetween\.\n<!-- measured: other -->\nold\n<!-- end -->\nAfter\.\n$/);
});

it('does not write a table without a place', () => {
  expect(() => writeReadme({ ...run, deployment: 'third' }, file)).toThrow('no section');
});
