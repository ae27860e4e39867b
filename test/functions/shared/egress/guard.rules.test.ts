import { describe, expect, it, vi } from 'vitest';
import { createEgressGuard } from '../../../../functions/shared/egress/guard.ts';
import { isPublic } from '../../../../functions/shared/egress/ip-address.ts';

const OWN = '8.8.4.4';

vi.mock('node:os', async (original) => ({
  ...(await original<typeof import('node:os')>()),
  networkInterfaces: () => ({
    eth0: [{ address: OWN }, { address: '2a00:1450:4001:800::7%eth0' }],
    lo: [{ address: '127.0.0.1' }],
  }),
}));

/** First and last address of every range, kept apart from the code, so that a test fails if one is removed there. */
const EDGES = [
  ['0.0.0.0', '0.255.255.255'],
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.0', '127.255.255.255'],
  ['168.63.129.16', '168.63.129.16'],
  ['169.254.0.0', '169.254.255.255'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.255'],
  ['192.0.2.0', '192.0.2.255'],
  ['192.31.196.0', '192.31.196.255'],
  ['192.52.193.0', '192.52.193.255'],
  ['192.88.99.0', '192.88.99.255'],
  ['192.168.0.0', '192.168.255.255'],
  ['192.175.48.0', '192.175.48.255'],
  ['198.18.0.0', '198.19.255.255'],
  ['198.51.100.0', '198.51.100.255'],
  ['203.0.113.0', '203.0.113.255'],
  ['224.0.0.0', '239.255.255.255'],
  ['240.0.0.0', '255.255.255.255'],
  ['::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff'],
  ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
] as const;

describe('a range', () => {
  it.for(EDGES)('from %s to %s is blocked at both ends', ([first, last]) => {
    expect([isPublic(first), isPublic(last)]).toEqual([false, false]);
  });
});

describe('the guard', () => {
  it('dials at most 32 addresses of a host, each once, and looks at no others', async () => {
    const many = Array.from({ length: 20_000 }, (_, at) => `8.${at >> 16}.${(at >> 8) & 255}.${at & 255}`);
    const egress = createEgressGuard({ resolve: async () => ['8.0.0.0', ...many] });

    const { ipAddresses } = await egress.check('http://many.example/');

    expect(ipAddresses).toEqual(many.slice(0, 32));
  });

  it('blocks the public addresses of this machine', async () => {
    const egress = createEgressGuard({ resolve: async () => ['8.8.8.8', OWN] });

    for (const host of [OWN, '[2a00:1450:4001:800::7]', 'name.example']) {
      await expect(egress.check(`http://${host}/`)).rejects.toMatchObject({ code: 'BLOCKED_ADDRESS' });
    }
    await expect(egress.check('http://8.8.8.8/')).resolves.toBeTruthy();
  });

  it('accepts only IP addresses from the resolver, even for an excepted host', async () => {
    const egress = createEgressGuard({
      resolve: async () => ['not an address'],
      exceptions: ['name.example:80'],
    });

    await expect(egress.check('http://name.example/')).rejects.toMatchObject({ code: 'BLOCKED_ADDRESS' });
  });
});
