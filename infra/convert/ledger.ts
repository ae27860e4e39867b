import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Job } from './jobs.ts';

/** Name of the file that records the sources of the results in a directory. */
const LEDGER = '.docmill.jsonl';

interface Row {
  readonly input: string;
  /** Value that changes with the source or the options. */
  readonly version: string;
  readonly outputs: readonly string[];
}

/** Records which conversions are done, so that a second run continues where the first one stopped. */
export interface Ledger {
  isDone(job: Job): boolean;
  /** Whether a file is a result of an earlier run, and therefore not an input. */
  isResult(path: string): boolean;
  add(job: Job, outputs: readonly string[]): void;
}

/** Opens the ledger of a directory. Without a directory, nothing is recorded. */
export function openLedger(directory: string | undefined, { fresh }: { readonly fresh: boolean }): Ledger {
  const file = directory === undefined ? undefined : join(directory, LEDGER);
  const rows = new Map<string, Row>();
  const text = file !== undefined && existsSync(file) ? readFileSync(file, 'utf8') : '';
  for (const row of text.split('\n').flatMap(parseRow)) rows.set(row.input, row);
  const results = new Set([...rows.values()].flatMap(({ outputs }) => outputs));
  // The last line may be incomplete if the run was killed.
  let separator = text === '' || text.endsWith('\n') ? '' : '\n';
  return {
    isDone(job) {
      const row = fresh ? undefined : rows.get(job.input.id);
      return row?.version === versionOf(job) && row.outputs.every((path) => existsSync(path));
    },
    isResult: (path) => results.has(path),
    add(job, outputs) {
      if (file === undefined) return;
      mkdirSync(dirname(file), { recursive: true });
      const row: Row = { input: job.input.id, version: versionOf(job), outputs };
      appendFileSync(file, `${separator}${JSON.stringify(row)}\n`);
      separator = '';
    },
  };
}

function versionOf({ input, to, query }: Job): string {
  return createHash('sha256')
    .update(JSON.stringify([input.version, to, query]))
    .digest('hex')
    .slice(0, 32);
}

function parseRow(line: string): Row[] {
  try {
    const row = JSON.parse(line) as Row;
    return typeof row.input === 'string' && Array.isArray(row.outputs) ? [row] : [];
  } catch {
    return [];
  }
}
