import { ROUTER_MEMORY } from '../shared/settings/aws.ts';
import type { RateLimits } from '../shared/settings/service.ts';
import type { Tool } from '../shared/tool.ts';
import { type Used, windowTimes } from './limits.ts';
import { addTotals, NO_USAGE, type UsageRow, type UsageTotals } from './usage.ts';

/** Totals as they are reported, with the cost of the conversions on AWS at list prices. */
interface ReportedTotals extends UsageTotals {
  /** Absent if nothing is billed, or if cost is not reported. */
  readonly estimatedDollars?: number;
}

export type ReportedRow = UsageRow & ReportedTotals;
/** A row with the email address of the account, if it has one. */
export type NamedRow = ReportedRow & { readonly email?: string };

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
  ...(['resultBytes', 'pages', 'milliseconds', 'coldStarts', 'estimatedDollars', 'email'] as const),
];

/** Formats rows as CSV (RFC 4180), with failures as `CODE:count` separated by spaces. */
export function usageCsv(rows: readonly NamedRow[]): string {
  const columns = COLUMNS.filter((column) => column !== 'estimatedDollars' || rows.some(isPriced));
  const lines = rows.map((row) =>
    columns
      .map((column) => {
        const value = row[column] ?? (column === 'email' ? '' : 0);
        if (typeof value !== 'object') return quoted(String(value));
        return Object.entries(value)
          .map(([code, count]) => `${code}:${count}`)
          .join(' ');
      })
      .join(','),
  );
  return [columns.join(','), ...lines].map((line) => `${line}\r\n`).join('');
}

/** Quotes a field. The apostrophe keeps a spreadsheet from reading an email address as a formula. */
function quoted(text: string): string {
  const field = /^[=+@-]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}

/** Rounds to a millionth of a dollar. */
function round(dollars: number): number {
  return Math.round(1e6 * dollars) / 1e6;
}

/**
 * Prices of what a conversion uses: list prices of us-east-1 in US dollars, as published in late 2025, without free
 * tiers and discounts.
 */
export const PRICES = {
  /** Per GiB and second, x86 and Arm. The init phase is billed, too. */
  lambdaGibSecond: { x86: 0.0000166667, arm: 0.0000133334 },
  lambdaRequest: 0.2e-6,
  /** Per GiB of a new execution environment with tenant isolation. */
  lambdaEnvironmentGib: 0.000167,
  /** Per request to a REST API. */
  gatewayRequest: 3.5e-6,
  s3Put: 5e-6,
  s3Get: 0.4e-6,
  dynamoRead: 0.125e-6,
  dynamoWrite: 0.625e-6,
  logsGib: 0.5,
} as const;

const GIB = 2 ** 30;
const LOG_BYTES = 2000;
/** Writes to the key table per call: the limits, the end of the call, its usage and the totals. */
const WRITES = 4;

/** Cost of conversions on AWS in US dollars, by billed item. */
export interface Cost {
  readonly tool: number;
  readonly router: number;
  /** Gateway, S3, keys, limits, usage and logs. */
  readonly other: number;
}

interface Consumption {
  readonly conversions: number;
  /** Total duration of these conversions in milliseconds. */
  readonly milliseconds: number;
  /** Number of environments that were started for them. With tenant isolation, each is billed. */
  readonly coldStarts?: number;
}

/** Estimates what conversions of a tool cost on AWS, without downloads of results. */
export function costOf(
  { conversions, milliseconds, coldStarts = 0 }: Consumption,
  tool: string,
  { memory, isolated }: Sizes,
): Cost {
  const isolatedStarts = isolated ? coldStarts : 0;
  const seconds = milliseconds / 1000;
  const each =
    PRICES.gatewayRequest +
    2 * PRICES.lambdaRequest +
    PRICES.s3Put +
    PRICES.s3Get +
    PRICES.dynamoRead +
    WRITES * PRICES.dynamoWrite +
    (LOG_BYTES / GIB) * PRICES.logsGib;
  return {
    tool:
      ((seconds * PRICES.lambdaGibSecond.x86 + isolatedStarts * PRICES.lambdaEnvironmentGib) *
        (memory[tool] ?? 0)) /
      1024,
    router: (seconds * (memory.router ?? 0) * PRICES.lambdaGibSecond.arm) / 1024,
    other: conversions * each,
  };
}

/** Estimates the total of `costOf` in US dollars. */
function estimateCost(billed: Consumption, tool: string, sizes: Sizes): number {
  const cost = costOf(billed, tool, sizes);
  return cost.tool + cost.router + cost.other;
}

/** The facts about a deployment that determine its cost. They are stack outputs. */
export interface Sizes {
  /** MiB of each function by name, including `router`. */
  readonly memory: Readonly<Record<string, number>>;
  /** Whether each account has its own execution environments. */
  readonly isolated: boolean;
}

/** Returns the sizes of a deployment with default settings. */
export function defaultSizes(tools: readonly Tool[]): Sizes {
  const memory = Object.fromEntries(tools.map(({ name, sizing }) => [name, sizing.memory]));
  return { memory: { ...memory, router: ROUTER_MEMORY }, isolated: true };
}
