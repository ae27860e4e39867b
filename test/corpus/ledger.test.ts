import { appendFileSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openLedger, type Row } from './ledger.ts';

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ledger-'));
  file = join(directory, 'deep/run.jsonl');
});
afterEach(() => rm(directory, { recursive: true }));

const row = (name: string): Row => ({
  name,
  version: '1',
  app: 'tiny',
  outcome: { kind: 'ok' },
  milliseconds: 5,
});

it('knows the results of an earlier, interrupted run', () => {
  openLedger(file, { fresh: false }).add(row('a'));

  const ledger = openLedger(file, { fresh: false });

  expect(ledger.done('a', '1', 'tiny')).toEqual(row('a'));
  expect(ledger.done('a', '2', 'tiny')).toBeUndefined();
  expect(ledger.done('a', '1', 'other')).toBeUndefined();
  expect(ledger.done('b', '1', 'tiny')).toBeUndefined();
});

it('skips a truncated line', () => {
  openLedger(file, { fresh: false }).add(row('a'));
  appendFileSync(file, '{"name":"b","ver');

  const ledger = openLedger(file, { fresh: false });
  ledger.add(row('c'));

  expect(ledger.done('a', '1', 'tiny')).toEqual(row('a'));
  expect(openLedger(file, { fresh: false }).done('c', '1', 'tiny')).toEqual(row('c'));
});

it('starts over after a complete run, or on request', () => {
  const first = openLedger(file, { fresh: false });
  first.add(row('a'));
  first.finish();
  const second = openLedger(file, { fresh: false });
  second.add(row('b'));

  const third = openLedger(file, { fresh: true });

  expect(second.done('a', '1', 'tiny')).toBeUndefined();
  expect(third.done('b', '1', 'tiny')).toBeUndefined();
  expect(readFileSync(file, 'utf8')).toBe('');
});
