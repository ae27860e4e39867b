import type { Tool } from '../../shared/tool.ts';
import type { KeyLimits } from '../keys/keys.ts';
import type { Used } from '../limits/limits.ts';
import { windowTimes } from '../limits/windows.ts';
import { estimateCost } from './prices.ts';
import { addTotals, NO_USAGE, type UsageRow, type UsageTotals } from './usage.ts';

export interface PricedTotals extends UsageTotals {
  /** What the conversions would cost on AWS at list prices. */
  readonly estimatedDollars: number;
}

export type PricedRow = UsageRow & PricedTotals;

/** Adds the estimated cost to each row. */
export function priceRows(rows: readonly UsageRow[], tools: readonly Tool[]): PricedRow[] {
  const memory = new Map(tools.map(({ name, sizing }) => [name, sizing.memory]));
  // A shared result started no tool, so its time was recorded only once.
  return rows.map((row) => ({
    ...row,
    estimatedDollars: round(estimateCost(row, memory.get(row.tool) ?? 0)),
  }));
}

/** Adds up rows. */
export function sumRows(rows: readonly PricedRow[]): PricedTotals {
  const totals = rows.reduce<UsageTotals>(addTotals, NO_USAGE);
  return pick(
    totals,
    rows.reduce((sum, row) => sum + row.estimatedDollars, 0),
  );
}

/** Returns what `GET /api/usage` tells the owner of a key. */
export function usageReport(given: {
  readonly month: string;
  readonly rows: readonly PricedRow[];
  readonly limits: KeyLimits;
  readonly used: Used;
  readonly now: number;
}) {
  const { month, rows, limits, used, now } = given;
  const times = windowTimes(now);
  const window = (limit: number | undefined, count: number, { remaining }: { remaining: number }) => ({
    limit: limit ?? null,
    used: count,
    remaining: limit === undefined ? null : Math.max(0, limit - count),
    resetsIn: remaining,
  });
  const tools = [...new Set(rows.map(({ tool }) => tool))].sort();
  return {
    month,
    limits: {
      minute: window(limits.perMinute, used.minute, times.minute),
      month: window(limits.perMonth, used.month, times.month),
      concurrent: { limit: limits.concurrent ?? null },
    },
    total: sumRows(rows),
    tools: Object.fromEntries(tools.map((name) => [name, sumRows(rows.filter(({ tool }) => tool === name))])),
    days: rows.map(({ account: _account, ...row }) => row),
  };
}

const COLUMNS = [
  ...(['account', 'day', 'tool', 'conversions', 'failures', 'cached', 'sourceBytes'] as const),
  ...(['resultBytes', 'pages', 'milliseconds', 'estimatedDollars'] as const),
];

/** Writes rows as CSV (RFC 4180), failures as `CODE:count` separated by spaces. */
export function usageCsv(rows: readonly PricedRow[]): string {
  const lines = rows.map((row) =>
    COLUMNS.map((column) => {
      const value = row[column];
      if (typeof value !== 'object') return quoted(String(value));
      return Object.entries(value)
        .map(([code, count]) => `${code}:${count}`)
        .join(' ');
    }).join(','),
  );
  return [COLUMNS.join(','), ...lines].map((line) => `${line}\r\n`).join('');
}

function quoted(field: string): string {
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}

function pick(totals: UsageTotals, dollars: number): PricedTotals {
  const { conversions, failures, cached, sourceBytes, resultBytes, pages, milliseconds } = totals;
  return {
    conversions,
    failures,
    cached,
    sourceBytes,
    resultBytes,
    pages,
    milliseconds,
    estimatedDollars: round(dollars),
  };
}

/** To a millionth of a dollar. */
function round(dollars: number): number {
  return Math.round(1e6 * dollars) / 1e6;
}
