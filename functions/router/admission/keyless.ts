import { accountOfIp } from '../../platform/ip-account.ts';
import { MINUTE } from '../../shared/dates.ts';

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
