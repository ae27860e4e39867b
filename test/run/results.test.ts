import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { hasFailures, readResults, summarize } from './results.ts';

const passed = (part: string, count: number) => ({ part, passed: count, failed: [], skipped: [] });

function read(...entries: readonly object[]) {
  const directory = mkdtempSync(join(tmpdir(), 'results-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'results');
  writeFileSync(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  return readResults(file);
}

it('lists what failed and what was skipped, with the reasons, and ends with the totals', () => {
  const results = read(passed('unit tests', 3), {
    part: 'engine tests',
    passed: 1,
    failed: [{ name: 'a.test.ts > a', reason: 'expected 1 to be 2' }],
    skipped: [
      { name: 'b', reason: 'needs qpdf' },
      { name: 'c', reason: 'needs qpdf' },
    ],
  });

  expect(summarize(results).split('\n')).toEqual([
    'unit tests: 3 passed, 0 failed, 0 skipped',
    'engine tests: 1 passed, 1 failed, 2 skipped',
    'SKIPPED engine tests: 2 tests: needs qpdf',
    'FAILED engine tests: a.test.ts > a: expected 1 to be 2',
    '4 passed, 1 failed, 2 skipped',
    '',
  ]);
});

it('lists the slowest files first, and the time of each part', () => {
  const files = Array.from({ length: 21 }, (_, seconds) => ({ file: `${seconds}.test.ts`, seconds }));

  const lines = summarize(
    read({ ...passed('unit tests', 3), files }, { ...passed('unit tests', 0), seconds: 83 }),
  );

  expect(lines.split('\n').slice(0, 2)).toEqual(['  20.0 s  20.test.ts', '  19.0 s  19.test.ts']);
  expect(lines).not.toContain(' 0.test.ts');
  expect(lines).toContain('\nunit tests: 3 passed, 0 failed, 0 skipped, 1 min 23 s\n');
});

it('counts a command that failed before any of its tests did', () => {
  const results = read(passed('unit tests', 3), { command: 'npm test', status: 1 });

  expect(hasFailures(results)).toBe(true);
  expect(summarize(results)).toMatch(
    /^FAILED npm test: npm test: exited with 1\n3 passed, 1 failed, 0 skipped\n$/m,
  );
});

it('does not count a failed test and its command twice', () => {
  const failed = { part: 'unit tests', passed: 3, failed: [{ name: 'a' }], skipped: [] };

  const results = read(failed, { command: 'npm test', status: 1 }, { command: 'npm run corpus', status: 0 });

  expect(summarize(results)).toContain('\n3 passed, 1 failed, 0 skipped\n');
});

it('counts a command that timed out after one of its tests failed', () => {
  const failed = { part: 'unit tests', passed: 3, failed: [{ name: 'a' }], skipped: [] };

  const results = read(failed, { command: 'npm test', status: 124 });

  expect(summarize(results)).toContain(
    'FAILED npm test: npm test: exited with a timeout\n3 passed, 2 failed',
  );
});
