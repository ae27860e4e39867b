import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { AREAS } from './list.ts';

const ROOT = join(import.meta.dirname, '../..');
const faults = Object.values(AREAS).flatMap((area) => area.faults);

it('finds the text of each fault exactly once', () => {
  const wrong = faults.filter(
    ({ file, find }) => readFileSync(join(ROOT, file), 'utf8').split(find).length !== 2,
  );

  expect(faults.length).toBeGreaterThanOrEqual(150);
  expect(wrong.map(({ file, find }) => `${file}: ${find}`)).toEqual([]);
});

it('finds the tests that a fault names', () => {
  const paths = globSync('test/**/*.{engine,service,aws}.test.ts', { cwd: ROOT });
  const parts = new Set(faults.flatMap(({ tests }) => tests).map((text) => text.split(' -t ')[0]!));

  expect([...parts].filter((part) => !paths.some((path) => path.includes(part)))).toEqual([]);
});
