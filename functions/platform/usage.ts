import { createHash } from 'node:crypto';
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
  /** Deletes the rows of an account and returns their number. The totals of all accounts stay. */
  erase(account: string): Promise<number>;
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
/** Number of items that count the totals of a tool and day, because DynamoDB writes one item at most 1000 times a second. */
const SHARDS = 8;
/** Item with the day on which totals were first counted. Those of that day and earlier ones are sums of rows. */
const COUNTED = 'counted';

/**
 * Keeps one item per day, tool and account. Those of an account are read by their IDs, which begin with the day, so that
 * those of a month can be listed. The totals of all accounts have items of their own.
 */
export function createUsage(table: Table, tools: readonly string[]): Usage {
  const idOf = (day: string, tool: string, account: string) => `usage#${day}#${tool}#${account}`;
  const totalId = (day: string, tool: string, shard: number) => `total#${day}#${tool}#${shard}`;

  async function* totalsIn(month: string): AsyncIterable<UsageRow> {
    const since = String((await table.get(COUNTED))?.since ?? '~');
    const days = daysOf(month);
    const shards = Array.from({ length: SHARDS }, (_, index) => index);
    const ids = days
      .filter((day) => day > since)
      .flatMap((day) => tools.flatMap((tool) => shards.map((shard) => totalId(day, tool, shard))));
    for (const item of await table.getAll(ids)) yield rowOf(item);
    if (days[0]! > since) return;
    for await (const item of table.list(`usage#${month}-`)) if (String(item.day) <= since) yield rowOf(item);
  }

  return {
    async record(conversion, now = Date.now()) {
      const { account, tool } = conversion;
      const day = dayOf(now);
      const { failures, ...counts } = totalsOf(conversion);
      const codes = Object.entries(failures).map(([name, count]) => [FAILURE + name, count]);
      const add = { ...counts, ...Object.fromEntries(codes) };
      const set = { day, tool, expires: Date.parse(day) + USAGE_LIFETIME };
      const [, total] = await Promise.all([
        table.update(idOf(day, tool, account), { add, set: { ...set, account } }),
        table.update(totalId(day, tool, hashOf(account) % SHARDS), { add, set }),
      ]);
      if (total?.conversions === 1) await table.update(COUNTED, { defaults: { since: day } });
    },

    async month(month, account) {
      if (account === undefined)
        return (await Array.fromAsync(table.list(`usage#${month}-`), rowOf)).sort(compareRows);
      const ids = daysOf(month).flatMap((day) => tools.map((tool) => idOf(day, tool, account)));
      return (await table.getAll(ids)).map(rowOf).sort(compareRows);
    },

    async total(month) {
      const sums = new Map<string, UsageRow>();
      for await (const row of totalsIn(month)) {
        const name = `${row.day} ${row.tool}`;
        sums.set(name, { ...row, ...addTotals(sums.get(name) ?? NO_USAGE, row), account: '' });
      }
      return [...sums.values()].sort(compareRows);
    },

    async erase(account) {
      const days = Array.from({ length: USAGE_LIFETIME / DAY + 1 }, (_, ago) =>
        dayOf(Date.now() - ago * DAY),
      );
      const ids = days.flatMap((day) => tools.map((tool) => idOf(day, tool, account)));
      const rows = await table.getAll(ids);
      for (const { id } of rows) await table.remove(id);
      return rows.length;
    },
  };
}

/** Returns a number of 32 bits that spreads accounts evenly. */
function hashOf(account: string): number {
  return createHash('sha256').update(account).digest().readUInt32BE();
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

/** Maximum number of failures to show per account, and of all accounts to an operator. */
const SHOWN = { own: 20, all: 50 };
/** How long failures are kept, in milliseconds. */
const FAILURE_LIFETIME = 31 * DAY;
/** Number of rings that all accounts share, so that the newest failures of all are found without reading the whole table. */
const RINGS = 256;
/** Number of failures in a ring. More than are shown, because another account may use the same one. */
const RING = 64;

/** The most recent failures of each account. */
export interface Failures {
  record(failure: Failure): Promise<void>;
  /** Returns the latest failures of one account, or of all accounts, newest first. */
  recent(account?: string): Promise<Failure[]>;
  /** Deletes the failures of an account and returns their number. */
  erase(account: string): Promise<number>;
}

/** Prefix of an item with all failures of an account, which earlier versions wrote. */
const EARLIER = 'failures#';

/**
 * Keeps each failure in a small item, which a later one of its ring replaces. So a failure costs two small writes: its number
 * and the item.
 */
export function createFailures(table: Table): Failures {
  const ringId = (ring: number) => `failed#${ring}`;
  const idOf = (ring: number, number: number) => `${ringId(ring)}#${number % RING}`;
  const ringOf = (account: string) => hashOf(account) % RINGS;
  const idsOf = (account: string) => [
    EARLIER + account,
    ...Array.from({ length: RING }, (_, number) => idOf(ringOf(account), number)),
  ];

  /** Returns the IDs of the last failures in the rings that were used last. */
  async function newestIds(): Promise<string[]> {
    const ids = Array.from({ length: RINGS }, (_, ring) => ringId(ring));
    const rings = (await table.getAll(ids)).sort((a, b) => Number(b.time) - Number(a.time));
    return rings.slice(0, SHOWN.all).flatMap(({ id, failures }) => {
      const numbers = Array.from({ length: SHOWN.own }, (_, ago) => Number(failures) - ago);
      return numbers.filter((number) => number > 0).map((number) => `${id}#${number % RING}`);
    });
  }

  return {
    async record({ account, time, code, requestId, tool }) {
      const [ring, expires] = [ringOf(account), time + FAILURE_LIFETIME];
      const counted = await table.update(ringId(ring), { add: { failures: 1 }, set: { time, expires } });
      const set = { account, time, code, requestId, tool, expires };
      await table.update(idOf(ring, Number(counted!.failures)), { set });
    },
    async recent(account) {
      const items = await table.getAll(account === undefined ? await newestIds() : idsOf(account));
      return items
        .flatMap(failuresIn)
        .filter((failure) => account === undefined || failure.account === account)
        .sort((a, b) => b.time - a.time)
        .slice(0, account === undefined ? SHOWN.all : SHOWN.own);
    },
    async erase(account) {
      const items = await table.getAll(idsOf(account));
      const own = items.filter((item) => item.account === account || item.id === EARLIER + account);
      for (const { id } of own) await table.remove(id);
      return own.length;
    },
  };
}

function failuresIn({ id, expires: _, ...item }: Item): Failure[] {
  if (!id.startsWith(EARLIER)) return [item as unknown as Failure];
  const first = Date.now() - FAILURE_LIFETIME;
  return Object.entries(item)
    .map(([name, facts]) => ({
      account: id.slice(EARLIER.length),
      time: parseInt(name, 10),
      ...(JSON.parse(String(facts)) as Omit<Failure, 'account' | 'time'>),
    }))
    .filter(({ time }) => time > first);
}
