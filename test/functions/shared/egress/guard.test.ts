import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import { createEgressGuard } from '../../../../functions/shared/egress/guard.ts';
import { isPublic, RANGES } from '../../../../functions/shared/egress/ip-address.ts';
import {
  FORBIDDEN_V4,
  FORBIDDEN_V6,
  PUBLIC_ADDRESSES,
  spellingsOfV4,
} from '../../../fixtures/address-spellings.ts';

const spellings = [
  ...FORBIDDEN_V4.flatMap(spellingsOfV4),
  ...FORBIDDEN_V6.flatMap((address) => [`[${address}]`, `[${address.toUpperCase()}]`, `[${address}]:443`]),
];

const refusal = { code: 'BLOCKED_ADDRESS', message: expect.stringContaining('public internet') };

/** Returns a guard whose resolver returns one address after the other. */
function resolving(...answers: readonly (readonly string[])[]) {
  const asked: string[] = [];
  const resolve = async (host: string) => {
    asked.push(host);
    return answers[(asked.length - 1) % answers.length]!;
  };
  return { egress: createEgressGuard({ resolve }), asked };
}

describe('blocked addresses', () => {
  it('blocks 400 spellings of addresses that are not public', async () => {
    const egress = createEgressGuard({ resolve: async () => ['8.8.8.8'] });

    const outcomes = await Promise.all(
      spellings.map(async (host) => ({
        host,
        code: await egress.check(`http://${host}/`).then(
          () => 'reached',
          (error) => error.code,
        ),
      })),
    );

    expect(spellings.length).toBeGreaterThanOrEqual(400);
    const wrong = outcomes.filter(({ code }) => code !== 'BLOCKED_ADDRESS' && code !== 'BAD_ADDRESS');
    expect(wrong).toEqual([]);
    // The URL parser accepts nearly all of them, so they are blocked as addresses and not as invalid text.
    expect(outcomes.filter(({ code }) => code === 'BLOCKED_ADDRESS').length).toBeGreaterThan(390);
  });

  it('blocks the same addresses when a resolver returns them', async () => {
    for (const address of [...FORBIDDEN_V4, ...FORBIDDEN_V6]) {
      const { egress } = resolving([address]);
      await expect(egress.check('http://name.example/')).rejects.toMatchObject(refusal);
    }
  });

  it('allows 40 public addresses, at the edges of every range', async () => {
    const egress = createEgressGuard();

    const checked = await Promise.all(
      PUBLIC_ADDRESSES.map((address) =>
        egress.check(`https://${address.includes(':') ? `[${address}]` : address}/`),
      ),
    );

    expect(PUBLIC_ADDRESSES.length).toBeGreaterThanOrEqual(40);
    const bytes = (address: string) => ipaddr.parse(address).toByteArray();
    expect(checked.map(({ ipAddresses }) => bytes(ipAddresses[0]!))).toEqual(PUBLIC_ADDRESSES.map(bytes));
  });

  it('agrees with another implementation on thousands of addresses', () => {
    let seed = 42;
    const byte = () => {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      return seed >>> 24;
    };
    const v4 = [...Array(256).keys()].flatMap((first) =>
      Array.from({ length: 40 }, () => [first, byte(), byte(), byte()]),
    );
    const nearSpecial = RANGES.forbiddenV4.flatMap(([prefix]) => {
      const [a = 0, b = 0, c = 0] = prefix.split('.').map(Number);
      return Array.from({ length: 50 }, () => [a, b, c, byte()]);
    });
    const v6 = Array.from({ length: 5000 }, () => [
      0x20 + (byte() >> 3),
      ...Array.from({ length: 15 }, byte),
    ]);

    const differing = [...v4, ...nearSpecial, ...v6]
      .map((bytes) => ipaddr.fromByteArray(bytes))
      .filter((address) => isPublic(address.toString()) !== (address.range() === 'unicast'))
      .map(String);

    // The other implementation knows the registries, but not the metadata services of clouds.
    expect(differing.filter((address) => address !== '168.63.129.16')).toEqual([]);
  });

  it('needs every rule: an address passes if any of them is removed', () => {
    const all = [
      ...FORBIDDEN_V6,
      ...RANGES.forbiddenV4.map(([prefix]) => prefix),
      ...FORBIDDEN_V4.flatMap(spellingsOfV4).flatMap((text) => /^\[(.+)\]$/.exec(text)?.[1] ?? []),
    ];
    const without = <Rule>(rules: readonly Rule[]) =>
      rules.map((rule) => ({ rule, rest: rules.filter((other) => other !== rule) }));
    const weakened = [
      ...without(RANGES.forbiddenV4).map(({ rule, rest }) => ({
        rule,
        ranges: { ...RANGES, forbiddenV4: rest },
      })),
      ...without(RANGES.forbiddenV6).map(({ rule, rest }) => ({
        rule,
        ranges: { ...RANGES, forbiddenV6: rest },
      })),
      ...without(RANGES.isatap).map(({ rule, rest }) => ({ rule, ranges: { ...RANGES, isatap: rest } })),
      { rule: RANGES.publicV6, ranges: { ...RANGES, publicV6: ['::', 0, 'all'] as const } },
    ];

    const idle = weakened.filter(({ ranges }) => !all.some((address) => isPublic(address, ranges)));

    expect(all.filter((address) => isPublic(address))).toEqual([]);
    expect(idle.map(({ rule }) => rule)).toEqual([]);
  });

  it('blocks the addresses of this machine, public or not', async () => {
    const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);

    for (const { address } of own) {
      const { egress } = resolving([address]);
      await expect(egress.check('http://name.example/')).rejects.toMatchObject(refusal);
    }

    expect(own.length).toBeGreaterThan(0);
  });
});

describe('names', () => {
  it('blocks a name if any of its addresses is not public', async () => {
    const { egress } = resolving(['8.8.8.8', '2606:4700::1', '127.0.0.1']);

    const check = egress.check('http://name.example/');

    await expect(check).rejects.toMatchObject(refusal);
  });

  it('returns the same error for a name that does not exist, has no address or is slow', async () => {
    const resolvers = [
      async () => Promise.reject(new Error('ENOTFOUND')),
      async () => [],
      async () => ['not an address'],
      async () => ['fe80::1%eth0'],
      () => new Promise<string[]>(() => {}),
    ];

    const errors = await Promise.all(
      resolvers.map((resolve) =>
        createEgressGuard({ resolve, resolveTime: 50 })
          .check('http://name.example/')
          .catch((error) => `${error.code} ${error.message}`),
      ),
    );

    expect(new Set(errors).size).toBe(1);
    expect(errors[0]).toMatch(/^BLOCKED_ADDRESS /);
  });

  it('blocks localhost in any spelling', async () => {
    const egress = createEgressGuard();

    for (const host of ['localhost', 'LOCALHOST', 'localhost.', '%6cocalhost', 'ｌocalhost']) {
      await expect(egress.check(`http://${host}/`)).rejects.toMatchObject(refusal);
    }
  });

  it('blocks its own host names in any case, with or without the trailing dot', async () => {
    const egress = createEgressGuard({ ownHosts: ['Convert.example'], resolve: async () => ['8.8.8.8'] });

    for (const host of ['convert.example', 'CONVERT.EXAMPLE', 'convert.example.', 'ｃonvert.example']) {
      await expect(egress.check(`https://${host}/api/`)).rejects.toMatchObject(refusal);
    }
    await expect(egress.check('https://other.example/')).resolves.toMatchObject({ host: 'other.example' });
  });

  it('connects to the address that it checked, even if the name has another one by then', async () => {
    const { egress, asked } = resolving(['8.8.8.8'], ['127.0.0.1']);
    const checked = await egress.check('http://name.example/');

    const dialled = await new Promise((resolve) => {
      checked.lookup('name.example', { all: true }, (_error, answers) => resolve(answers));
    });

    expect(dialled).toEqual([{ address: '8.8.8.8', family: 4 }]);
    expect(asked).toEqual(['name.example']);
    await expect(egress.check('http://name.example/')).rejects.toMatchObject(refusal);
  });
});

describe('URLs', () => {
  it('accepts only http and https', async () => {
    const egress = createEgressGuard();
    const addresses = [
      'file:///etc/passwd',
      'ftp://example.com/',
      'gopher://127.0.0.1/',
      'data:text/html,x',
      'javascript:alert(1)',
      'ws://example.com/',
      'view-source:http://example.com/',
      'blob:http://example.com/x',
      'about:blank',
      '//example.com/',
      'example.com',
      'http://',
      'http:///',
      'http://[::1',
      'http://1.2.3.4.5/',
      'http://999.1.1.1/',
      'http://exa mple.com/',
      'http://example.com:99999/',
      '',
    ];

    for (const address of addresses) {
      await expect(egress.check(address)).rejects.toMatchObject({ code: 'BAD_ADDRESS' });
    }
  });

  it('accepts the default and the configured ports, and lists them in the error', async () => {
    const egress = createEgressGuard({ ports: [80, 443, 8443] });

    const refused = egress.check('http://8.8.8.8:8080/');

    await expect(refused).rejects.toMatchObject({
      code: 'BLOCKED_ADDRESS',
      message: 'The port of the URL must be one of 80, 443, 8443, got 8080.',
    });
    await expect(egress.check('https://8.8.8.8:8443/')).resolves.toMatchObject({ port: 8443 });
    await expect(egress.check('http://8.8.8.8:0/')).rejects.toMatchObject({ code: 'BLOCKED_ADDRESS' });
    await expect(egress.check('http://8.8.8.8:443/')).resolves.toMatchObject({ port: 443 });
  });

  it('allows an exact host:port exception and nothing else', async () => {
    const egress = createEgressGuard({ exceptions: ['127.0.0.1:3999', '[::1]:3999', 'LocalHost:80'] });

    const allowed = [
      'http://127.0.0.1:3999/x',
      'http://0x7f.1:3999/',
      'http://[::1]:3999/',
      'http://localhost/',
    ];
    const refused = [
      'http://127.0.0.1:3998/',
      'http://127.0.0.1/',
      'http://127.0.0.2:3999/',
      'http://localhost:3999/',
    ];

    for (const address of allowed) await expect(egress.check(address)).resolves.toBeTruthy();
    for (const address of refused) {
      await expect(egress.check(address)).rejects.toMatchObject({ code: 'BLOCKED_ADDRESS' });
    }
  });

  it('rejects an exception that is not a host and a port', () => {
    for (const exception of [
      '127.0.0.1',
      'localhost',
      'http://localhost:80',
      '*:80',
      'a@b:80',
      'host:80/path',
    ]) {
      expect(() => createEgressGuard({ exceptions: [exception] })).toThrow('must be host:port');
    }
  });
});
