import { randomUUID } from 'node:crypto';
import type { ErrorCode } from '../shared/errors.ts';
import { DAY, dayOf, daysOf } from '../shared/time.ts';
import type { Item, Table } from './table.ts';

/** Usage of one conversion. Contains nothing about the document itself: no URL, no file name. */
export interface ConversionUsage {
  readonly account: string;
  readonly tool: string;
  /** `OK`, `CANCELLED` if the caller disconnected, or the code of its error. */
  readonly code: 'OK' | 'CANCELLED' | ErrorCode;
  readonly sourceBytes: number;
  readonly resultBytes: number;
  readonly pages: number;
  /** Time spent in the tool, without the router. */
  readonly milliseconds: number;
  /** Number of execution environments that were started for it. Always 0 on one machine. */
  readonly coldStarts: number;
  /** Whether the result came from an identical call in progress or from the result cache. */
  readonly cached: boolean;
}

/** How long rows are kept, in milliseconds: 13 months. */
const USAGE_LIFETIME = 400 * DAY;

/** Names of the counts. `conversions` includes failed ones. */
const COUNTS = [
  'conversions',
  'cached',
  'sourceBytes',
  'resultBytes',
  'pages',
  'milliseconds',
  'coldStarts',
] as const;

type Counts = Readonly<Record<(typeof COUNTS)[number], number>>;

/** Totals of one account's conversions with one tool on one UTC day. */
export interface UsageTotals extends Counts {
  /** Number of failures by error code. */
  readonly failures: Readonly<Record<string, number>>;
}

export interface UsageRow extends UsageTotals {
  readonly account: string;
  /** UTC day, `2026-11-21`. */
  readonly day: string;
  readonly tool: string;
}

/** Records what accounts use, by tool and day. */
export interface Usage {
  record(conversion: ConversionUsage, now?: number): Promise<void>;
  /** Returns the rows of a month (`2026-11`), of one account or of all, ordered by account, day and tool. */
  month(month: string, account?: string): Promise<UsageRow[]>;
  /** Returns the sums of all accounts in a month, with an empty account, ordered by day and tool. */
  total(month: string): Promise<UsageRow[]>;
}

/** Returns each count with the value that `count` returns for it. */
function countsFrom(count: (name: keyof Counts) => number): Counts {
  return Object.fromEntries(COUNTS.map((name) => [name, count(name)])) as unknown as Counts;
}

export const NO_USAGE: UsageTotals = { ...countsFrom(() => 0), failures: {} };

/** Returns the totals of a single conversion. A shared result costs no tool time. */
function totalsOf({ code, cached, ...facts }: ConversionUsage): UsageTotals {
  return {
    conversions: 1,
    failures: code === 'OK' ? {} : { [code]: 1 },
    cached: Number(cached),
    sourceBytes: facts.sourceBytes,
    resultBytes: facts.resultBytes,
    pages: facts.pages,
    milliseconds: Math.round(facts.milliseconds),
    coldStarts: facts.coldStarts,
  };
}

/** Adds up totals. */
export function addTotals(a: UsageTotals, b: UsageTotals): UsageTotals {
  const codes = new Set([...Object.keys(a.failures), ...Object.keys(b.failures)]);
  return {
    ...countsFrom((name) => a[name] + b[name]),
    failures: Object.fromEntries(
      [...codes].sort().map((code) => [code, (a.failures[code] ?? 0) + (b.failures[code] ?? 0)]),
    ),
  };
}

/** Orders rows by account, day and tool. */
function compareRows(a: UsageRow, b: UsageRow): number {
  return a.account.localeCompare(b.account) || a.day.localeCompare(b.day) || a.tool.localeCompare(b.tool);
}

const FAILURE = 'fail_';

/**
 * Keeps one item per day, tool and account. Those of an account are read by their IDs, which begin with the day, so that
 * those of a month can be listed.
 */
export function createUsage(table: Table, tools: readonly string[]): Usage {
  const idOf = (day: string, tool: string, account: string) => `usage#${day}#${tool}#${account}`;
  return {
    async record(conversion, now = Date.now()) {
      const { account, tool } = conversion;
      const day = dayOf(now);
      const { failures, ...counts } = totalsOf(conversion);
      const codes = Object.entries(failures).map(([code, count]) => [FAILURE + code, count]);
      await table.update(idOf(day, tool, account), {
        set: { account, day, tool, expires: Date.parse(day) + USAGE_LIFETIME },
        add: { ...counts, ...Object.fromEntries(codes) },
      });
    },

    async month(month, account) {
      if (account === undefined)
        return (await Array.fromAsync(table.list(`usage#${month}-`), rowOf)).sort(compareRows);
      const ids = daysOf(month).flatMap((day) => tools.map((tool) => idOf(day, tool, account)));
      return (await table.getAll(ids)).map(rowOf).sort(compareRows);
    },

    async total(month) {
      const sums = new Map<string, UsageRow>();
      for await (const item of table.list(`usage#${month}-`)) {
        const row = rowOf(item);
        const name = `${row.day} ${row.tool}`;
        sums.set(name, { ...row, ...addTotals(sums.get(name) ?? NO_USAGE, row), account: '' });
      }
      return [...sums.values()].sort(compareRows);
    },
  };
}

function rowOf(item: Item): UsageRow {
  const number = (name: string) => Number(item[name] ?? 0);
  const failures = Object.keys(item).filter((name) => name.startsWith(FAILURE));
  return {
    account: String(item.account),
    day: String(item.day),
    tool: String(item.tool),
    ...countsFrom(number),
    failures: Object.fromEntries(failures.sort().map((name) => [name.slice(FAILURE.length), number(name)])),
  };
}

/** A failed call. Contains nothing about the document. */
export interface Failure {
  readonly account: string;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly code: ErrorCode;
  /** Identifies the log lines of the call. */
  readonly requestId: string;
  /** Name of the tool. Absent if the call named none. */
  readonly tool?: string;
}

/** Maximum number of failures to keep per account. */
const KEPT_FAILURES = 20;
/** Maximum number of failures of all accounts to show to an operator. */
const SHOWN_FAILURES = 50;
/** How long failures are kept, in milliseconds. */
const FAILURE_LIFETIME = 31 * DAY;

/** The most recent failures of each account. */
export interface Failures {
  record(failure: Failure): Promise<void>;
  /** Returns the latest failures of one account, or of all accounts, newest first. */
  recent(account?: string): Promise<Failure[]>;
}

const PREFIX = 'failures#';

/** Keeps the failures of each account in one item, as attributes whose names begin with the time. */
export function createFailures(table: Table): Failures {
  return {
    async record({ account, time, ...facts }) {
      const item = await table.update(PREFIX + account, {
        set: { [`${time} ${randomUUID()}`]: JSON.stringify(facts), expires: time + FAILURE_LIFETIME },
      });
      const names = namesIn(item!);
      // Trims only at twice the limit, to save writes.
      if (names.length < 2 * KEPT_FAILURES) return;
      const old = names.slice(KEPT_FAILURES).map((name) => [name, undefined]);
      await table.update(PREFIX + account, { set: Object.fromEntries(old) });
    },
    async recent(account) {
      const items =
        account === undefined
          ? await Array.fromAsync(table.list(PREFIX))
          : await table.getAll([PREFIX + account]);
      return items
        .flatMap(failuresIn)
        .sort((a, b) => b.time - a.time)
        .slice(0, SHOWN_FAILURES);
    },
  };
}

/** Returns the names of the attributes that are failures, newest first. All times have the same number of digits. */
function namesIn(item: Item): string[] {
  return Object.keys(item)
    .filter((name) => /^\d/.test(name))
    .sort()
    .reverse();
}

function failuresIn(item: Item): Failure[] {
  const account = item.id.slice(PREFIX.length);
  const first = Date.now() - FAILURE_LIFETIME;
  return namesIn(item)
    .slice(0, KEPT_FAILURES)
    .map((name) => ({
      account,
      time: parseInt(name, 10),
      ...(JSON.parse(String(item[name])) as Omit<Failure, 'account' | 'time'>),
    }))
    .filter(({ time }) => time > first);
}
