import { describe, expect, it } from 'vitest';
import { accountOfIp } from '../../../functions/platform/accounts.ts';

describe('the account of an IP address', () => {
  it('is the same for all spellings of an IPv4 address, and for an IPv6 network', () => {
    expect(accountOfIp('::ffff:203.0.113.1')).toBe(accountOfIp('203.0.113.1'));
    expect(accountOfIp('2001:db8:1:2::1')).toBe(accountOfIp('2001:db8:1:2:aaaa:bbbb:cccc:dddd'));
    expect(accountOfIp('2001:db8::1')).toBe(accountOfIp('2001:0db8:0:0:ffff::'));
  });

  it('differs between addresses and networks, and does not contain the address', () => {
    expect(accountOfIp('203.0.113.1')).not.toBe(accountOfIp('203.0.113.2'));
    expect(accountOfIp('2001:db8:1:2::1')).not.toBe(accountOfIp('2001:db8:1:3::1'));
    expect(accountOfIp('203.0.113.1')).not.toContain('203');
  });
});
