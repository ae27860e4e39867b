import { beforeEach, describe, expect, it } from 'vitest';
import type { Invocation } from '../../../../functions/platform/invoke.ts';
import { type Limiter, windowsAt } from '../../../../functions/platform/limits.ts';
import { DEMO_LIMITS } from '../../../../functions/router/admission/demo.ts';
import type { Dependencies } from '../../../../functions/router/dependencies.ts';
import { createCoalescer } from '../../../../functions/router/reuse.ts';
import { route } from '../../../../functions/router/route.ts';
import { CONVERSION_LIMITS } from '../../../../functions/shared/tool.ts';
import * as tools from '../../../../functions/tools.ts';
import { KEPT_RESULTS } from '../../../helpers/kept-results.ts';
import { unlimited } from '../../accounts.ts';

/** A limiter that counts in memory. */
function countingLimiter(): Limiter {
  const used = new Map<string, number>();
  return {
    ...unlimited.limiter,
    admit: async ({ account, limits, now = Date.now(), shortWindow }) => {
      const count = (used.get(account) ?? 0) + 1;
      if (count > (limits.perShortWindow ?? 0)) {
        return { admitted: false, used: { short: count, month: 0 }, exceeded: 'perShortWindow' };
      }
      used.set(account, count);
      const windows = windowsAt(now, shortWindow);
      return { admitted: true, used: { short: count, month: 0 }, ticket: { account, windows } };
    },
    release: async ({ account }) => {
      used.set(account, used.get(account)! - 1);
    },
  };
}

let invocations: Invocation[];
let dependencies: Dependencies;
beforeEach(() => {
  invocations = [];
  dependencies = {
    ...unlimited,
    limiter: countingLimiter(),
    tools: Object.values(tools),
    keys: { find: async () => undefined, findSigner: async () => undefined },
    storage: {
      ...KEPT_RESULTS,
      grant: async (request) => ({ ...request }),
      url: async (key) => `https://files.example/${key}`,
    },
    invoke: async (invocation) => {
      invocations.push(invocation);
      return { ok: true, objectKeys: [`${invocation.grant.prefix}result`] };
    },
    coalesce: createCoalescer(),
    limits: CONVERSION_LIMITS,
    contact: { accountUrl: 'https://a.example/', supportUrl: 'https://s.example/' },
    demo: { perAddress: 5, perHour: 8 },
    log: () => {},
  };
});

const PDF = { app: 'doc2any', infile: 'https://example.org/a.docx', outfile: 'a.pdf' };
const IMAGE = { app: 'imageproc', infile: 'https://example.org/a.png', outfile: 'a.jpg' };

function call(query: Record<string, string>, ip = '203.0.113.1') {
  const pairs = Object.entries(query).map(([name, value]) => ({ name, value }));
  return route(
    { method: 'GET', path: '/api/', query: pairs, header: () => undefined, ip },
    dependencies,
    new AbortController().signal,
  );
}

/** As the specification's clients do. */
const seedClient = (body: string) => {
  if (!body.includes('[Output]')) return { error: body };
  return { url: body.replaceAll('[Output]', '').replaceAll('<br>', '').replaceAll(' ', '') };
};

describe('demo mode', () => {
  it('adds the URL of a real result to the text about the key, which clients do not mistake for a success', async () => {
    const { status, body } = await call(PDF);

    expect(status).toBe(200);
    expect(body).toMatch(
      /^\[ERROR\] Please provide a valid APIKEY\. .* demo mode\.\nDemo result: https:\S+$/,
    );
    expect(body).not.toContain('[Output]');
    expect(seedClient(String(body))).toEqual({ error: body });
  });

  it.each([
    [PDF, 'pdftools', { firstPage: 1, lastPage: 1, watermark: 'DEMO' }],
    [IMAGE, 'imageproc', {}],
  ])(
    'returns only the result of a second conversion, which draws the watermark: %j',
    async (query, tool, options) => {
      const { body } = await call({ ...query });

      const [first, second] = invocations as [Invocation, Invocation];
      expect(invocations).toHaveLength(2);
      expect(second.tool).toBe(tool);
      expect(second.source).toBe(`https://files.example/${first.grant.prefix}result`);
      expect(second.options).toMatchObject(options);
      expect(JSON.stringify(second.options)).toContain('DEMO');
      expect(body).toContain(String(second.grant.prefix));
      expect(body).not.toContain(String(first.grant.prefix));
    },
  );

  it('passes the options of the caller to the first conversion only', async () => {
    await call({ ...PDF, '--pages': '2-9', '--watermark': 'MINE', '--encrypt': 'secret' });

    const [first, second] = invocations as [Invocation, Invocation];
    expect(first.options).toMatchObject({ watermark: 'MINE', encrypt: 'secret' });
    expect(JSON.stringify(second.options)).not.toMatch(/MINE|secret/);
  });

  it('converts within tight limits and under a separate prefix', async () => {
    await call(PDF);

    for (const { limits, deadline, grant, account } of invocations) {
      expect(limits).toMatchObject({ sourceBytes: DEMO_LIMITS.sourceBytes });
      expect(deadline).toBeLessThanOrEqual(Date.now() + DEMO_LIMITS.conversionTime);
      expect(grant.prefix).toMatch(/^demo\/[0-9a-f]{32}\/$/);
      expect(account).toMatch(/^demo-[0-9a-f]{16}$/);
    }
  });

  it('counts as running until it has ended, also after a failure', async () => {
    const running: number[] = [];
    const { limiter } = dependencies;
    dependencies = {
      ...dependencies,
      demo: { perAddress: 5, perHour: 8, concurrent: 1 },
      limiter: {
        ...limiter,
        admit: (request) => {
          if (request.account === 'demo') running.push(request.limits.concurrent ?? 0);
          return limiter.admit(request);
        },
        release: async () => void running.pop(),
      },
      invoke: async () => {
        expect(running).toEqual([1]);
        throw new Error('broken');
      },
    };

    await call(PDF);

    expect(running).toEqual([]);
  });

  it('limits conversions per hour by IP address and in total', async () => {
    const bodies = [];
    for (let count = 0; count < 1000; count++) bodies.push((await call(PDF)).body);
    const others = [];
    for (let last = 2; last < 12; last++) others.push((await call(PDF, `203.0.113.${last}`)).body);

    expect(bodies.filter((body) => String(body).includes('Demo result'))).toHaveLength(5);
    expect(others.filter((body) => String(body).includes('Demo result'))).toHaveLength(3);
    expect(invocations).toHaveLength(16);
  });

  it.each([
    ['a mistake in the query', { ...PDF, '-f': 'x' }],
    ['an archive', { ...IMAGE, app: 'pdftools', outfile: 'a.png.zip' }],
    ['no query', {}],
  ])('returns the text alone for %s, and starts nothing', async (_, query) => {
    const { status, body } = await call(query as Record<string, string>);

    expect(status).toBe(200);
    expect(body).toMatch(/demo mode\.$/);
    expect(invocations).toEqual([]);
  });

  it('returns the text alone if the conversion fails', async () => {
    dependencies = {
      ...dependencies,
      invoke: async () => ({ ok: false, error: { code: 'CORRUPT_SOURCE', message: 'Damaged.' } }),
    };

    expect((await call(PDF)).body).toMatch(/demo mode\.$/);
  });

  it('can be disabled', async () => {
    dependencies = { ...dependencies, demo: undefined };

    expect((await call(PDF)).body).toMatch(/demo mode\.$/);
    expect(invocations).toEqual([]);
  });

  it.each(['docx', 'txt', 'csv'])('starts nothing for %s, which cannot have a watermark', async (format) => {
    const { body } = await call({ ...PDF, outfile: `a.${format}` });

    expect(body).toMatch(/demo mode\.$/);
    expect(invocations).toEqual([]);
  });
});
