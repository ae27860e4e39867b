import { demoAccount } from './demo.ts';

const MINUTE = 60_000;
/** IP addresses that are counted in one minute. Requests of others are not read. */
const MAX_ADDRESSES = 10_000;

/**
 * Returns a function that counts the requests without a key by IP address, and returns whether another one may be read.
 * In memory, because reading a query takes less time than counting it in the database.
 */
export function createKeylessLimit(
  perMinute: number,
  now: () => number = () => performance.now(),
): (ip: string | undefined) => boolean {
  const counts = new Map<string, number>();
  let started = now();
  return (ip) => {
    if (now() - started > MINUTE) {
      counts.clear();
      started = now();
    }
    const caller = demoAccount(ip);
    const count = (counts.get(caller) ?? 0) + 1;
    if (count > perMinute || (count === 1 && counts.size >= MAX_ADDRESSES)) return false;
    counts.set(caller, count);
    return true;
  };
}
