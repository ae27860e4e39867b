import type { KeyLimits, KeyRecord } from '../../platform/keys/keys.ts';
import { limitHeaders, retryAfter } from '../../platform/limits/headers.ts';
import type { Exceeded, Limiter, Refund } from '../../platform/limits/limits.ts';
import { isCurrent } from '../../platform/limits/windows.ts';
import { ConversionError } from '../../shared/errors.ts';
import { describe, type Log } from '../../shared/log.ts';
import type { HttpReply } from '../reply.ts';

export interface LimitDependencies {
  readonly limiter: Limiter;
  /** Limits of keys that have none of their own. */
  readonly defaultLimits: KeyLimits;
  readonly log: Log;
}

/** Milliseconds after its deadline for which a call still counts as in progress if its process was killed. */
const GRACE = 30_000;

/** Returns the limits that apply to a key. */
export function limitsOf({ limits }: KeyRecord, defaults: KeyLimits): KeyLimits {
  return { ...defaults, ...limits };
}

/**
 * Runs a call within the limits of its account, and adds them to the reply as headers. `refund` is asked once the call has
 * ended. A call over a limit is rejected with `RATE_LIMITED` or `QUOTA_EXCEEDED` and not counted.
 */
export async function withinLimits(
  { key, longest }: { readonly key: KeyRecord; readonly longest: number },
  { limiter, defaultLimits, log }: LimitDependencies,
  run: () => Promise<HttpReply>,
  refund: () => Refund,
  reject: (error: ConversionError) => HttpReply,
): Promise<HttpReply> {
  const limits = limitsOf(key, defaultLimits);
  const expires = Date.now() + longest + GRACE;
  const admission = await limiter.admit({ account: key.account, limits, expires });
  if (!admission.admitted) {
    const reply = reject(refusal(admission.exceeded, limits));
    return withHeaders(reply, limitHeaders(limits, admission.used));
  }
  let reply: HttpReply;
  try {
    reply = await run();
  } finally {
    // The result exists, so the caller gets it even if the end of the call could not be recorded.
    await limiter.release(admission.ticket, refund()).catch((thrown: unknown) => {
      log('release failed', { cause: describe(thrown) }, 'error');
    });
  }
  if (isCurrent(admission.ticket.windows)) {
    return withHeaders(reply, limitHeaders(limits, admission.used, refund()));
  }
  // A window has ended during the call. Other calls may already have been counted in the new one.
  const headers = await limiter.used(key.account).then(
    (used) => limitHeaders(limits, used),
    (thrown: unknown) => {
      log('limits not read', { cause: describe(thrown) }, 'error');
      return {};
    },
  );
  return withHeaders(reply, headers);
}

/** Adds headers to a reply. */
export function withHeaders(reply: HttpReply, headers: Readonly<Record<string, string>>): HttpReply {
  return { ...reply, headers: { ...reply.headers, ...headers } };
}

function refusal(exceeded: Exceeded, limits: KeyLimits, now = Date.now()): ConversionError {
  const seconds = retryAfter(exceeded, now);
  const wait = { retryAfter: seconds };
  switch (exceeded) {
    case 'perMinute':
      return new ConversionError(
        'RATE_LIMITED',
        `This account may make ${counted(limits.perMinute, 'request')} per minute. Retry in ${counted(seconds, 'second')}.`,
        wait,
      );
    case 'concurrent':
      return new ConversionError(
        'RATE_LIMITED',
        `This account may have ${counted(limits.concurrent, 'request')} in progress at a time. Retry when one has finished.`,
        wait,
      );
    case 'perMonth':
      return new ConversionError(
        'QUOTA_EXCEEDED',
        `This account may make ${counted(limits.perMonth, 'conversion')} per month. The next month starts on ${new Date(now + 1000 * seconds).toISOString().slice(0, 10)}.`,
        wait,
      );
    default:
      return exceeded satisfies never;
  }
}

function counted(count: number | undefined, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
