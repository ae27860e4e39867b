import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Outcome } from '../result/judge.ts';

/** A finished conversion. */
export interface Row {
  readonly name: string;
  readonly version: string;
  readonly app: string;
  readonly outcome: Outcome;
  readonly milliseconds: number;
  /** Why it counts as a failure. */
  readonly miss?: string;
}

export interface Ledger {
  /** Returns the row of a conversion from an earlier, interrupted run. */
  done(name: string, version: string, app: string): Row | undefined;
  add(row: Row): void;
  /** Marks the run as complete, so that the next one starts from the beginning. */
  finish(): void;
}

const keyOf = ({ name, version, app }: Pick<Row, 'name' | 'version' | 'app'>) =>
  JSON.stringify([name, version, app]);

/** Opens a ledger of JSON lines. A complete or unwanted one is replaced. */
export function openLedger(file: string, { fresh }: { fresh: boolean }): Ledger {
  const lines = readLines(file);
  const complete = lines.some((line) => 'finished' in line);
  const rows = fresh || complete ? [] : (lines as Row[]);
  const known = new Map(rows.map((row) => [keyOf(row), row]));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const append = (line: object) => appendFileSync(file, `${JSON.stringify(line)}\n`);
  return {
    done: (name, version, app) => known.get(keyOf({ name, version, app })),
    add: append,
    finish: () => append({ finished: new Date().toISOString() }),
  };
}

function readLines(file: string): object[] {
  try {
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
    // The last line of a killed run may be incomplete.
    return lines.flatMap((line) => (line.endsWith('}') ? [JSON.parse(line) as object] : []));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
