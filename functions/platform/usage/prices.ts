import { ROUTER_MEMORY } from '../../shared/settings/aws.ts';

/** The one price table: US dollars, list prices of us-east-1 as published in late 2025, without free tiers and discounts. */
export const PRICES = {
  /** Per GiB and second, x86 and Arm; the init phase is billed too. */
  lambdaGibSecond: { x86: 0.0000166667, arm: 0.0000133334 },
  lambdaRequest: 0.2e-6,
  /** Per GiB and second of `/tmp` beyond the first 512 MiB. */
  lambdaTemporaryGibSecond: 0.0000000309,
  /** REST API. */
  gatewayRequest: 3.5e-6,
  s3Put: 5e-6,
  s3Get: 0.4e-6,
  s3GibMonth: 0.023,
  dynamoRead: 0.125e-6,
  dynamoWrite: 0.625e-6,
  logsGib: 0.5,
  outGib: 0.09,
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

interface Billed {
  readonly conversions: number;
  /** Total time of these conversions. */
  readonly milliseconds: number;
}

/** Estimates what conversions cost on AWS, without downloads of results. `memory` is the tool's, in MiB. */
export function costOf({ conversions, milliseconds }: Billed, memory: number): Cost {
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
    tool: (seconds * memory * PRICES.lambdaGibSecond.x86) / 1024,
    router: (seconds * ROUTER_MEMORY * PRICES.lambdaGibSecond.arm) / 1024,
    other: conversions * each,
  };
}

/** Estimates the sum of `costOf` in US dollars. */
export function estimateCost(billed: Billed, memory: number): number {
  const { tool, router, other } = costOf(billed, memory);
  return tool + router + other;
}
