import { accountOfIp } from '../../platform/accounts.ts';
import type { KeyRecord } from '../../platform/keys.ts';
import {
  type Exceeded,
  isCurrent,
  type Limiter,
  limitHeaders,
  type Refund,
  retryAfter,
} from '../../platform/limits.ts';
import { ConversionError } from '../../shared/errors.ts';
import { describe, type Log } from '../../shared/log.ts';
import type { RateLimits } from '../../shared/settings/service.ts';
import { dayOf, MINUTE } from '../../shared/time.ts';

export interface LimitDependencies {
  readonly limiter: Limiter;
  /** Limits of keys without their own limits. */
  readonly defaultLimits: RateLimits;
  readonly log: Log;
}

/** How long after its deadline a call still counts as in progress if its process was killed, in milliseconds. */
export const LEASE_GRACE = 30_000;

/** Returns the limits that apply to a key. */
export function limitsOf({ limits }: KeyRecord, defaults: RateLimits): RateLimits {
  return { ...defaults, ...limits };
}

/** Work to admit. */
export interface AdmittedWork {
  readonly key: KeyRecord;
  /** Maximum milliseconds that it runs. */
  readonly maxDuration: number;
  /** Whether it counts as a call in progress. Defaults to true. */
  readonly isCounted?: boolean;
}

type Admitted =
  | {
      readonly admitted: true;
      /** Ends the call and returns headers with the remaining limits for its reply. Never fails. */
      release(refund: Refund): Promise<Readonly<Record<string, string>>>;
    }
  | {
      readonly admitted: false;
      /** `RATE_LIMITED` or `QUOTA_EXCEEDED`. */
      readonly error: ConversionError;
      readonly headers: Readonly<Record<string, string>>;
    };

/** Counts a call of an account, unless it exceeds a limit. */
export async function admit(
  { key, maxDuration, isCounted = true }: AdmittedWork,
  { limiter, defaultLimits, log }: LimitDependencies,
): Promise<Admitted> {
  const limits = limitsOf(key, defaultLimits);
  const expires = Date.now() + maxDuration + LEASE_GRACE;
  const admission = await limiter.admit({
    account: key.account,
    limits: {
      ...limits,
      perShortWindow: limits.perMinute,
      ...(!isCounted && { concurrent: undefined }),
    },
    expires,
  });
  if (!admission.admitted) {
    const error = limitError(admission.exceeded, limits);
    return { admitted: false, error, headers: limitHeaders(limits, admission.used) };
  }

  return {
    admitted: true,
    release: async (refund) => {
      const { ticket, used } = admission;
      // The result exists, so the caller gets it even if the end of the call could not be recorded.
      await limiter.release(ticket, refund).catch((thrown: unknown) => {
        log('release failed', { cause: describe(thrown) }, 'error');
      });
      if (isCurrent(ticket.windows)) return limitHeaders(limits, used, refund);
      // A window has ended during the call. Other calls may already have been counted in the new one.
      return limiter.used(key.account).then(
        (now) => limitHeaders(limits, now),
        (thrown: unknown) => {
          log('limits not read', { cause: describe(thrown) }, 'error');
          return {};
        },
      );
    },
  };
}

function limitError(exceeded: Exceeded, limits: RateLimits, now = Date.now()): ConversionError {
  const seconds = retryAfter(exceeded, now);
  const wait = { retryAfter: seconds };
  switch (exceeded) {
    case 'perShortWindow':
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
        `This account may make ${counted(limits.perMonth, 'conversion')} per month. The next month starts on ${dayOf(now + 1000 * seconds)}.`,
        wait,
      );
    default:
      return exceeded satisfies never;
  }
}

function counted(count: number | undefined, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Maximum number of IP addresses to count per minute. Requests from others are not read. */
const MAX_IPS = 10_000;

/** Limits how many requests without a key are read per minute and IP address. */
export interface KeylessLimit {
  /** Whether another request may be read. */
  admits(ip: string | undefined): boolean;
  count(ip: string | undefined): void;
}

/** Counts in memory, because reading a query takes less time than counting it in the database. */
export function createKeylessLimit(
  perMinute: number,
  now: () => number = () => performance.now(),
): KeylessLimit {
  const counts = new Map<string, number>();
  let started = now();
  const find = (caller: string) => {
    if (now() - started > MINUTE) {
      counts.clear();
      started = now();
    }
    return counts.get(caller) ?? 0;
  };
  return {
    admits: (ip) => {
      const count = find(accountOfIp(ip));
      return count === 0 ? counts.size < MAX_IPS : count < perMinute;
    },
    count: (ip) => {
      const caller = accountOfIp(ip);
      counts.set(caller, find(caller) + 1);
    },
  };
}
