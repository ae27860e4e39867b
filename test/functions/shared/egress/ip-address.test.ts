import { expect, it } from 'vitest';
import { networkOf } from '../../../../functions/shared/egress/ip-address.ts';

it.each([
  ['203.0.113.1', '203.0.113.1'],
  ['::ffff:203.0.113.1', '203.0.113.1'],
  ['::FFFF:cb00:7101', '203.0.113.1'],
  ['2001:db8:1:2:aaaa:bbbb:cccc:dddd', '2001:db8:1:2'],
  ['2001:0db8::1', '2001:db8:0:0'],
  ['64:ff9b::203.0.113.1', '64:ff9b:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['', ''],
])('counts %s as %s', (ip, network) => {
  expect(networkOf(ip)).toBe(network);
});
