import { afterEach, expect, it, vi } from 'vitest';
import { ConversionError } from '../../../functions/shared/errors.ts';
import { atOnce, controlled, jobCall, type Local, startLocal } from './local-service.ts';

let local: Local;
afterEach(() => local.remove());

it('runs the jobs of an account in their order, and accounts in turns', async () => {
  const order: string[] = [];
  local = await startLocal({
    convert: async (invocation, signal) => {
      order.push(invocation.source.split('/').at(-1)!);
      return atOnce(invocation, signal);
    },
    total: 1,
  });
  const accepted = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2'].map((name) =>
    local.submit(name, name.startsWith('a') ? 'alice' : 'bob'),
  );
  await Promise.all(accepted);

  await vi.waitFor(() => expect(order).toHaveLength(6));

  expect(order.filter((name) => name.startsWith('a'))).toEqual(['a1', 'a2', 'a3', 'a4']);
  expect(order.indexOf('b2')).toBeLessThan(order.indexOf('a4'));
});

it('gives one account every place, but lets none wait for them', async () => {
  const { convert, started, finish } = controlled();
  local = await startLocal({ convert, total: 2 });
  for (const name of ['a1', 'a2', 'a3']) await local.submit(name);
  await vi.waitFor(() => expect(started).toEqual(['a1', 'a2']));

  for (const name of ['b1', 'b2']) await local.submit(name, 'bob');
  await vi.waitFor(() => expect(started).toEqual(['a1', 'a2', 'b1']));
  finish('a1');
  finish('a2');

  await vi.waitFor(() => expect(started).toEqual(['a1', 'a2', 'b1', 'a3']));
});

it('waits for what a caller would have to retry', async () => {
  let calls = 0;
  local = await startLocal({
    convert: async (invocation, signal) => {
      calls += 1;
      if (calls === 1)
        throw new ConversionError('OVERLOADED', 'The service is at capacity.', { retryAfter: 0.1 });
      return atOnce(invocation, signal);
    },
  });

  const id = await local.submit('a');

  await vi.waitFor(async () => expect(await local.get(id)).toMatchObject({ status: 'done' }));
  expect(calls).toBe(2);
  expect((await local.jobs.get('alice', id))!.starts).toBe(1);
});

it('respects the calls that an account may have in progress', async () => {
  const { convert, started, finish } = controlled();
  local = await startLocal({ convert, total: 2, limits: { concurrent: 1 } });
  const ids = [await local.submit('a'), await local.submit('b')];
  await vi.waitFor(() => expect(started).toEqual(['a']));

  finish('a');

  await vi.waitFor(() => expect(started).toEqual(['a', 'b']), 5000);
  finish('b');
  for (const id of ids)
    await vi.waitFor(async () => expect(await local.get(id)).toMatchObject({ status: 'done' }));
});

it.each([
  ['is no longer valid', { disabled: true }, 'INVALID_KEY'],
  ['may no longer use the tool', { tools: ['other'] }, 'UNKNOWN_APP'],
])('fails the job of a key that %s', async (_, change, code) => {
  const { convert, started, finish } = controlled();
  local = await startLocal({ convert, total: 1 });
  await local.submit('a');
  const id = await local.submit('b');
  await vi.waitFor(() => expect(started).toEqual(['a']));
  local.keys.set('alice', { ...local.keys.get('alice')!, ...change });

  finish('a');

  await vi.waitFor(async () =>
    expect((await local.jobs.get('alice', id))?.end).toMatchObject({ error: { code } }),
  );
  expect(started).toEqual(['a']);
});

it('takes over the jobs of a server that was stopped or killed', async () => {
  const before = controlled();
  const first = await startLocal({ convert: before.convert, total: 1 });
  const ids = [await first.submit('a'), await first.submit('b'), await first.submit('c', 'bob')];
  await vi.waitFor(() => expect(before.started).toHaveLength(1));
  await first.close();

  local = await startLocal({ convert: atOnce, directory: first.folder });
  await local.queue.load();

  const ends = await Promise.all(
    ids.map((id, index) =>
      vi.waitFor(async () => {
        const job = await local.jobs.get(index < 2 ? 'alice' : 'bob', id);
        expect(job?.status).toBe('done');
        return job!.end;
      }),
    ),
  );
  expect(ends).toHaveLength(3);
});

it('lets nobody wait for a job while it stops', async () => {
  const { convert, started } = controlled();
  local = await startLocal({ convert, total: 1 });
  await local.submit('a');
  const id = await local.submit('b');
  await vi.waitFor(() => expect(started).toEqual(['a']));

  const waiting = local.get(id, 'alice', 'wait=60');
  await local.queue.close();

  expect(await waiting).toMatchObject({ status: 'queued' });
});

it('gives up a job that was running each time the server was killed', async () => {
  local = await startLocal({ convert: atOnce });
  const job = await local.jobs.add(jobCall('a'));
  for (let kill = 0; kill < 10; kill += 1) await local.jobs.requeue((await local.jobs.start(job))!);
  await local.jobs.start(job);

  await local.queue.load();

  expect(await local.jobs.get('alice', job.id)).toMatchObject({
    status: 'failed',
    end: { error: { code: 'INTERNAL' } },
  });
});
