import { beforeEach, describe, expect, it } from 'vitest';
import { runConversion } from '../../../functions/router/conversion.ts';
import type { Dependencies } from '../../../functions/router/dependencies.ts';
import { createCoalescer } from '../../../functions/router/reuse.ts';
import { CONVERSION_LIMITS } from '../../../functions/shared/tool.ts';
import { KEPT_RESULTS } from '../../helpers/kept-results.ts';
import { recordOf, unlimited } from '../accounts.ts';
import { tiny } from '../tiny-tool.ts';

let events: string[];
let dependencies: Dependencies;

beforeEach(() => {
  events = [];
  dependencies = {
    ...unlimited,
    tools: [tiny],
    keys: { find: async () => undefined, findSigner: async () => undefined },
    limiter: {
      ...unlimited.limiter,
      release: async (_ticket, refund) => void events.push(`released ${refund}`),
    },
    usage: { ...unlimited.usage, record: async ({ code }) => void events.push(`recorded ${code}`) },
    storage: { ...KEPT_RESULTS, grant: async (request) => ({ ...request }), url: async (key) => key },
    invoke: async ({ grant }) => ({ ok: true, objectKeys: [`${grant.prefix}b.png`] }),
    coalesce: createCoalescer(),
    limits: CONVERSION_LIMITS,
    contact: { accountUrl: 'https://a.example/', supportUrl: 'https://s.example/' },
    log: () => {},
  };
});

function run<Value>(deliver: (objectKey: string) => Value, query: object = {}) {
  const all = { app: 'tiny', infile: 'https://example.org/a.png', outfile: 'b.png', ...query };
  const call = {
    query: Object.entries(all).map(([name, value]) => ({ name, value: String(value) })),
    key: recordOf('owner'),
    trace: { requestId: 'r1', traceparent: undefined },
    signal: new AbortController().signal,
  };
  return runConversion(call, dependencies, { deliver: async ({ result }) => deliver(result.objectKeys[0]!) });
}

describe('the life of a conversion', () => {
  it('ends after its result was delivered, without a reply', async () => {
    const ended = await run((objectKey) => {
      events.push('delivered');
      return objectKey;
    });

    expect(ended).toMatchObject({
      value: expect.stringMatching(/b\.png$/),
      facts: { code: 'OK', account: 'owner' },
    });
    expect(events).toEqual(['delivered', 'recorded OK', 'released none']);
  });

  it('is known by a hash while it can be joined', async () => {
    let identity = '';
    dependencies = {
      ...dependencies,
      coalesce: (known, signal, work) => {
        identity = known;
        return work(signal);
      },
    };
    await run(() => '', { '--note': 'a'.repeat(900) });

    expect(identity).toMatch(/^[0-9a-f]{64}$/);
  });

  it('ends with an error if the result cannot be delivered', async () => {
    const ended = await run(() => {
      throw new Error('The storage is gone.');
    });

    expect(ended).toMatchObject({ error: { code: 'INTERNAL' }, facts: { code: 'INTERNAL' } });
    expect(events).toEqual(['recorded INTERNAL', 'released all']);
  });

  it('ends before a tool is invoked if the request has a mistake', async () => {
    const ended = await run(() => events.push('delivered'), { '-copies': 'x' });

    expect(ended).toMatchObject({ error: { code: 'BAD_PARAMETER' } });
    expect(events).toEqual(['released month']);
  });
});
