import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { textTable } from '../run/report.ts';
import type { Outcome } from './result.ts';

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

interface Ledger {
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

interface Kind {
  count: number;
  ok: number;
  readonly errors: Map<string, number>;
  misses: number;
  readonly times: number[];
}

/** Collects rows per tool and prints them as a table, with the name of every failed file. */
export function createSummary() {
  const kinds = new Map<string, Kind>();
  const misses: Row[] = [];
  const notes: string[] = [];

  return {
    misses,
    count: () => [...kinds.values()].reduce((sum, { count }) => sum + count, 0),
    add(row: Row) {
      const kind: Kind = kinds.get(row.app) ?? { count: 0, ok: 0, errors: new Map(), misses: 0, times: [] };
      kinds.set(row.app, kind);
      kind.count += 1;
      kind.times.push(row.milliseconds);
      if (row.outcome.kind === 'ok') {
        kind.ok += 1;
        if (row.outcome.note) notes.push(`NOTE ${row.app} ${row.name}: ${row.outcome.note}\n`);
      }
      if (row.outcome.kind === 'error') {
        kind.errors.set(row.outcome.code, (kind.errors.get(row.outcome.code) ?? 0) + 1);
      }
      if (row.miss === undefined) return;
      kind.misses += 1;
      misses.push(row);
    },
    toString() {
      const header = ['tool', 'files', 'ok', 'errors', 'misses', 'p50 ms', 'p90 ms'];
      const rows = [...kinds].sort().map(([app, { count, ok, errors, misses: missed, times }]) => {
        const codes = [...errors].sort().map(([code, times]) => `${code} ${times}`);
        return [
          app,
          count,
          ok,
          codes.join(', ') || '–',
          missed,
          percentile(times, 0.5),
          percentile(times, 0.9),
        ];
      });
      const table = textTable([header, ...rows], (column) =>
        column === 0 || column === 3 ? 'left' : 'right',
      );
      return `${table}\n${notes.join('')}${misses.map(missLine).join('')}`;
    },
  };
}

function missLine({ app, name, milliseconds, miss }: Row): string {
  return `MISS ${app} ${name} (${milliseconds} ms): ${miss}\n`;
}

function percentile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}
