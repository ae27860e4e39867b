import type { KeyLimits, KeyRecord } from '../../platform/keys/keys.ts';
import { limitHeaders } from '../../platform/limits/headers.ts';
import type { Limiter } from '../../platform/limits/limits.ts';
import { priceRows, usageReport } from '../../platform/usage/report.ts';
import type { Usage } from '../../platform/usage/usage.ts';
import type { Tool } from '../../shared/tool.ts';
import { type HttpReply, jsonReply, withHeaders } from '../reply.ts';
import { limitsOf } from './limit.ts';

/** Returns what the account of a key has used this month. The request itself is not counted. */
export async function readUsage(
  key: KeyRecord,
  dependencies: {
    readonly tools: readonly Tool[];
    readonly usage: Usage;
    readonly limiter: Limiter;
    readonly defaultLimits: KeyLimits;
  },
): Promise<HttpReply> {
  const { tools, usage, limiter, defaultLimits } = dependencies;
  const now = Date.now();
  const month = new Date(now).toISOString().slice(0, 7);
  const [rows, used] = await Promise.all([usage.month(month, key.account), limiter.used(key.account, now)]);
  const limits = limitsOf(key, defaultLimits);
  const reply = jsonReply(200, usageReport({ month, rows: priceRows(rows, tools), limits, used, now }));
  return withHeaders(reply, limitHeaders(limits, used, 'none', now));
}
