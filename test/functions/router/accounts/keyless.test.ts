import { expect, it } from 'vitest';
import { createKeylessLimit } from '../../../../functions/router/accounts/keyless.ts';

it('admits so many requests of an IP address each minute, and those of others', () => {
  let now = 0;
  const admit = createKeylessLimit(2, () => now);

  expect([admit('1.2.3.4'), admit('1.2.3.4'), admit('1.2.3.4')]).toEqual([true, true, false]);
  expect(admit('1.2.3.5')).toBe(true);
  now = 60_001;
  expect(admit('1.2.3.4')).toBe(true);
});

it('counts an IPv6 network as one caller', () => {
  const admit = createKeylessLimit(1);

  expect([admit('2001:db8::1'), admit('2001:db8::2')]).toEqual([true, false]);
});
