import { lookup } from 'node:dns/promises';
import { stat } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEgressGuard } from '../../../../functions/shared/egress/guard.ts';
import { createResolver } from '../../../../functions/shared/egress/resolver.ts';
import { type DnsServer, serveDns } from '../../../helpers/dns-server.ts';

const NAMES = {
  hosts: new Map([['printer.lan', ['10.0.0.9', 'fd00::9']]]),
  search: ['first.example', 'second.example'],
};
const never = new AbortController().signal;

let dns: DnsServer;
const answers: Record<string, string> = {
  'found.example': '203.0.114.5',
  'wiki.second.example': '203.0.114.6',
  'public.example': '8.8.8.8',
};

beforeAll(async () => {
  dns = await serveDns((name) => answers[name]);
});
afterAll(() => dns.close());

const resolver = () => createResolver({ servers: [dns.address], readNames: async () => NAMES });

describe('names of the system', () => {
  it('prefers /etc/hosts', async () => {
    expect(await resolver()('Printer.LAN', never)).toEqual(['10.0.0.9', 'fd00::9']);
  });

  it('resolves localhost without asking DNS', async () => {
    expect(await resolver()('app.localhost', never)).toEqual(['127.0.0.1']);
  });

  it('tries the search domains in order for a name without a dot', async () => {
    answers['wiki.first.example'] = '203.0.114.7';

    expect(await resolver()('wiki', never)).toEqual(['203.0.114.7']);
  });

  it('reads the real files of this machine as getaddrinfo does', async () => {
    const expected = await lookup('localhost', { family: 4 });

    expect(await createResolver()('localhost', never)).toContain(expected.address);
  });
});

describe('a silent name server', () => {
  it('ends its queries when the signal fires', async () => {
    const stop = new AbortController();
    const resolved = resolver()('silent.example', stop.signal);
    await setImmediate();

    stop.abort();

    await expect(resolved).rejects.toMatchObject({ code: 'ECANCELLED' });
  });

  it('blocks neither files nor names of another account', async () => {
    const egress = createEgressGuard({ resolve: resolver(), resolveTime: 60_000 });
    let ended = 0;
    const attack = Array.from({ length: 400 }, (_, index) =>
      egress.check(`http://silent-${index}.example/`, { account: 'attacker' }).catch(() => (ended += 1)),
    );

    for (let beat = 0; beat < 20; beat += 1) {
      await stat('/etc/hosts');
      const { ipAddresses } = await egress.check('http://public.example/', { account: 'neighbor' });
      expect(ipAddresses).toEqual(['8.8.8.8']);
    }

    // Only a few of its lookups at a time time out, after seconds.
    expect(ended).toBeLessThan(attack.length / 2);
  });

  it('is reported after three seconds, with the same message as a blocked host', async () => {
    const egress = createEgressGuard({ resolve: resolver() });

    await expect(egress.check('http://silent.example/', { account: 'a' })).rejects.toMatchObject({
      code: 'BLOCKED_ADDRESS',
      message: expect.stringContaining('public internet'),
      cause: { cause: { message: 'no DNS response within 3000 ms' } },
    });
  });

  it('frees the slot of a lookup when its conversion is cancelled', async () => {
    const lookups = { total: 2, perAccount: 2 };
    const egress = createEgressGuard({ resolve: resolver(), resolveTime: 60_000, lookups });
    const stop = new AbortController();
    const attack = ['a', 'b', 'c', 'd'].map((name) =>
      egress.check(`http://${name}.silent.example/`, { account: 'a', signal: stop.signal }),
    );
    const ended = Promise.allSettled(attack);
    stop.abort(new Error('the caller left'));
    await ended;

    const { ipAddresses } = await egress.check('http://public.example/', { account: 'a' });

    expect(ipAddresses).toEqual(['8.8.8.8']);
  });
});
