import type { Sizes } from '../aws/sizes.ts';

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
/** Writes to the key table per call: the limits, the end of the call and its usage. */
const WRITES = 3;

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
export function estimateCost(billed: Consumption, tool: string, sizes: Sizes): number {
  const cost = costOf(billed, tool, sizes);
  return cost.tool + cost.router + cost.other;
}
