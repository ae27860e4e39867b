import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UsageError } from './command.ts';
import { type Job, pagesOf, pathOf } from './jobs.ts';

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
  /** @throws UsageError for a result that would replace that of another input. */
  check(jobs: readonly Job[]): void;
  add(job: Job, outputs: readonly string[]): void;
  /** Names a job in the same way in each run, until it is done, so that a service can continue it. */
  nameOf(job: Job): string | undefined;
}

/** Opens the ledger of a directory. Without a directory, nothing is recorded. */
export function openLedger(directory: string | undefined, { fresh }: { readonly fresh: boolean }): Ledger {
  const file = directory === undefined ? undefined : join(directory, LEDGER);
  // A fresh run converts again what a service has converted.
  const run = fresh ? ` ${Date.now()}` : '';
  const rows = new Map<string, Row>();
  const text = file !== undefined && existsSync(file) ? readFileSync(file, 'utf8') : '';
  for (const row of text.split('\n').flatMap(parseRow)) rows.set(row.input, row);
  const results = new Map(
    [...rows.values()].flatMap(({ input, outputs }) => outputs.map((path) => [path, input])),
  );
  // The last line may be incomplete if the run was killed.
  let separator = text === '' || text.endsWith('\n') ? '' : '\n';
  return {
    isDone(job) {
      const row = fresh ? undefined : rows.get(job.input.id);
      return row?.version === versionOf(job) && row.outputs.every((path) => existsSync(path));
    },
    isResult: (path) => results.has(path),
    nameOf: (job) => (file === undefined ? undefined : `${versionOf(job)}${run}`),
    check(jobs) {
      for (const job of jobs) {
        const { id } = job.input;
        const found = [pathOf(job), ...pagesOf(job, results.keys())].find(
          (path) => (results.get(path) ?? id) !== id && existsSync(path),
        );
        if (found === undefined) continue;
        const message = `The result '${found}' would replace that of '${results.get(found)}'. Add --overwrite to allow it.`;
        throw new UsageError(message);
      }
    },
    add(job, outputs) {
      if (file === undefined) return;
      mkdirSync(dirname(file), { recursive: true });
      const row: Row = { input: job.input.id, version: versionOf(job), outputs };
      appendFileSync(file, `${separator}${JSON.stringify(row)}\n`);
      separator = '';
    },
  };
}

function versionOf({ input, query, ...job }: Job): string {
  return createHash('sha256')
    .update(JSON.stringify([input.version, pathOf(job), query]))
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
