import type { KeyRecord } from '../platform/keys/keys.ts';
import { limitHeaders } from '../platform/limits/headers.ts';
import type { Limiter } from '../platform/limits/limits.ts';
import { type PriceRows, usageReport } from '../platform/usage/report.ts';
import type { Usage } from '../platform/usage/usage.ts';
import { monthOf } from '../shared/dates.ts';
import type { RateLimits } from '../shared/rate-limits.ts';
import { limitsOf } from './admission/admit.ts';
import { type HttpReply, jsonReply, withHeaders } from './reply.ts';

/** Returns this month's usage of a key's account. The request itself is not counted. */
export async function readUsage(
  key: KeyRecord,
  dependencies: {
    readonly usage: Usage;
    /** Absent if the cost of conversions is not reported. */
    readonly priceRows?: PriceRows | undefined;
    readonly limiter: Limiter;
    readonly defaultLimits: RateLimits;
  },
): Promise<HttpReply> {
  const { usage, priceRows, limiter, defaultLimits } = dependencies;
  const now = Date.now();
  const month = monthOf(now);
  const [rows, used] = await Promise.all([usage.month(month, key.account), limiter.used(key.account, now)]);
  const limits = limitsOf(key, defaultLimits);
  const reply = jsonReply(200, usageReport({ month, rows: priceRows?.(rows) ?? rows, limits, used, now }));
  return withHeaders(reply, limitHeaders(limits, used, 'none', now));
}
