import type { RateLimits } from '../../shared/rate-limits.ts';
import type { Sizes } from '../aws/sizes.ts';
import type { Used } from '../limits/limits.ts';
import { windowTimes } from '../limits/windows.ts';
import { estimateCost } from './prices.ts';
import { addTotals, NO_USAGE, type UsageRow, type UsageTotals } from './usage.ts';

/** Totals as they are reported, with the cost of the conversions on AWS at list prices. */
interface ReportedTotals extends UsageTotals {
  /** Absent if nothing is billed, or if cost is not reported. */
  readonly estimatedDollars?: number;
}

export type ReportedRow = UsageRow & ReportedTotals;

/** Adds the estimated cost to each row. */
export type PriceRows = (rows: readonly UsageRow[]) => ReportedRow[];

/** Prices the conversions of a deployment. */
export function createPricing(sizes: Sizes): PriceRows {
  // A shared result started no tool, so its time was recorded only once.
  return (rows) =>
    rows.map((row) => ({ ...row, estimatedDollars: round(estimateCost(row, row.tool, sizes)) }));
}

/** Adds up rows. */
export function sumRows(rows: readonly ReportedRow[]): ReportedTotals {
  const totals = rows.reduce<UsageTotals>(addTotals, NO_USAGE);
  if (!rows.some(isPriced)) return totals;
  return {
    ...totals,
    estimatedDollars: round(rows.reduce((sum, row) => sum + (row.estimatedDollars ?? 0), 0)),
  };
}

function isPriced({ estimatedDollars }: ReportedTotals): boolean {
  return estimatedDollars !== undefined;
}

/** Returns the body of `GET /api/usage`. */
export function usageReport(facts: {
  readonly month: string;
  readonly rows: readonly ReportedRow[];
  readonly limits: RateLimits;
  readonly used: Used;
  readonly now: number;
}) {
  const { month, rows, limits, used, now } = facts;
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
      minute: window(limits.perMinute, used.short, times.short),
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
  ...(['resultBytes', 'pages', 'milliseconds', 'coldStarts', 'estimatedDollars'] as const),
];

/** Formats rows as CSV (RFC 4180), with failures as `CODE:count` separated by spaces. */
export function usageCsv(rows: readonly ReportedRow[]): string {
  const columns = COLUMNS.filter((column) => column !== 'estimatedDollars' || rows.some(isPriced));
  const lines = rows.map((row) =>
    columns
      .map((column) => {
        const value = row[column] ?? 0;
        if (typeof value !== 'object') return quoted(String(value));
        return Object.entries(value)
          .map(([code, count]) => `${code}:${count}`)
          .join(' ');
      })
      .join(','),
  );
  return [columns.join(','), ...lines].map((line) => `${line}\r\n`).join('');
}

function quoted(field: string): string {
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}

/** Rounds to a millionth of a dollar. */
function round(dollars: number): number {
  return Math.round(1e6 * dollars) / 1e6;
}
