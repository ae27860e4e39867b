import { expect, it } from 'vitest';
import { createKeylessLimit, type KeylessLimit } from '../../../../functions/router/admission/admit.ts';

/** Counts a request if it is admitted. */
const admitBy = (limit: KeylessLimit) => (ip: string) => {
  const isAdmitted = limit.admits(ip);
  if (isAdmitted) limit.count(ip);
  return isAdmitted;
};

it('admits so many requests of an IP address each minute, and those of others', () => {
  let now = 0;
  const admit = admitBy(createKeylessLimit(2, () => now));

  expect([admit('1.2.3.4'), admit('1.2.3.4'), admit('1.2.3.4')]).toEqual([true, true, false]);
  expect(admit('1.2.3.5')).toBe(true);
  now = 60_001;
  expect(admit('1.2.3.4')).toBe(true);
});

it('counts an IPv6 network as one caller', () => {
  const admit = admitBy(createKeylessLimit(1));

  expect([admit('2001:db8::1'), admit('2001:db8::2')]).toEqual([true, false]);
});
