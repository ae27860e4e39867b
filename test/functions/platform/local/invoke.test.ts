import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Invoke } from '../../../../functions/platform/invoke.ts';
import { createLocalInvoke } from '../../../../functions/platform/local/invoke.ts';
import { describeInvoke, sampleInvocation } from '../invoke.contract.ts';

const never = new AbortController().signal;

/** Returns an invoke that runs `handle` as the tool of the sample. */
const invokeOf = (handle: Invoke, limits?: Parameters<typeof createLocalInvoke>[1]) =>
  createLocalInvoke(new Map([[sampleInvocation().tool, handle]]), limits).invoke;

describeInvoke('this process', async (handle) => ({ invoke: invokeOf(handle), close: async () => {} }));

describe('tools in this process', () => {
  it('are found by name', async () => {
    const names: string[] = [];
    const handlers = ['one', 'two'].map((name): [string, Invoke] => [
      name,
      async () => {
        names.push(name);
        return { ok: true, objectKeys: [] };
      },
    ]);

    await createLocalInvoke(new Map(handlers)).invoke({ ...sampleInvocation(), tool: 'two' }, never);

    expect(names).toEqual(['two']);
    await expect(createLocalInvoke(new Map()).invoke(sampleInvocation(), never)).rejects.toThrow(
      'no tool named pdftools',
    );
  });

  it('are not waited for long after the deadline', async () => {
    const invoke = invokeOf(() => setTimeout(60_000) as never, { slack: 100 });

    const late = invoke({ ...sampleInvocation(), deadline: Date.now() + 100 }, never);

    await expect(late).rejects.toMatchObject({ code: 'TIMED_OUT' });
  });
});

it('waits at the end for handlers whose callers have left', async () => {
  const stop = new AbortController();
  const handler = Promise.withResolvers<never>();
  const { invoke, ended } = createLocalInvoke(new Map([['pdftools', () => handler.promise]]));
  const call = invoke(sampleInvocation(), stop.signal);

  stop.abort();
  await expect(call).rejects.toThrow('timed out');
  const isOver = ended().then(() => 'over');

  expect(await Promise.race([isOver, setTimeout(10, 'waiting')])).toBe('waiting');
  handler.reject(new Error('stopped'));
  expect(await isOver).toBe('over');
});

describe('the limit of concurrent invocations', () => {
  it('rejects the next one with a retry time, and accepts again when one has ended', async () => {
    const ends: Array<() => void> = [];
    const invoke = invokeOf(
      () => new Promise((resolve) => ends.push(() => resolve({ ok: true, objectKeys: [] }))),
      { max: 2 },
    );

    const calls = ['a', 'b', 'c'].map((account) => ({ ...sampleInvocation(), account }));
    const running = [invoke(calls[0]!, never), invoke(calls[1]!, never)];
    const refused = await invoke(calls[2]!, never).catch((thrown) => thrown);
    for (const end of ends.splice(0)) end();
    await Promise.all(running);
    const next = invoke(sampleInvocation(), never);
    ends[0]!();

    expect(refused).toMatchObject({ code: 'OVERLOADED', retryAfter: 5 });
    expect(await next).toEqual({ ok: true, objectKeys: [] });
  });

  it('gives one account at most half of the queue', async () => {
    const invoke = invokeOf(() => new Promise(() => {}), { max: 4 });
    const call = (account: string) => invoke({ ...sampleInvocation(), account }, never);
    call('a').catch(() => {});
    call('a').catch(() => {});
    const waiting = Symbol('waiting');

    expect(await call('a').catch((thrown) => thrown)).toMatchObject({ code: 'OVERLOADED', retryAfter: 5 });
    expect(await Promise.race([call('b'), Promise.resolve(waiting)])).toBe(waiting);
  });

  it('no longer counts a failed invocation', async () => {
    const invoke = invokeOf(() => Promise.reject(new Error('failed')), { max: 1 });

    for (let call = 0; call < 3; call++) {
      await expect(invoke(sampleInvocation(), never)).rejects.toThrow('failed');
    }
  });
});
