import { getEventListeners, once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ConversionError } from '../../../functions/shared/errors.ts';
import {
  daysSince,
  startArrivalTimer,
  untilAborted,
  withAnySignal,
  within,
  withTimeout,
} from '../../../functions/shared/time.ts';

const never = new AbortController().signal;
const hang = (signal: AbortSignal) => setTimeout(60_000, undefined, { signal });
const own = new ConversionError('SOURCE_TIMEOUT', 'Too slow.');

it.each([
  ['2026-11-29', 0],
  ['2026-11-28', 1],
  ['2025-11-29', 365],
  ['unknown', Number.NaN],
  ['', Number.NaN],
])('%j was %d days ago', (day, days) => {
  expect(daysSince(day, Date.parse('2026-11-29T23:59:59Z'))).toBe(days);
});

describe('withTimeout', () => {
  it('returns what the work returns', async () => {
    expect(await withTimeout(1000, never, async () => 7)).toBe(7);
  });

  it('rejects with TIMED_OUT, not with the error that the abort caused below', async () => {
    await expect(withTimeout(20, never, hang)).rejects.toMatchObject({
      code: 'TIMED_OUT',
      message: 'The conversion timed out.',
    });
  });

  it('rejects with the error it was given', async () => {
    await expect(withTimeout(20, never, hang, () => own)).rejects.toBe(own);
  });

  it('rejects immediately for a time in the past', async () => {
    await expect(withTimeout(-5, never, hang)).rejects.toMatchObject({ code: 'TIMED_OUT' });
  });

  it('rejects with the reason of an outer abort', async () => {
    const outer = new AbortController();
    const ended = withTimeout(5000, outer.signal, hang);
    outer.abort(own);

    await expect(ended).rejects.toBe(own);
  });

  it('turns an abort without an error for callers into TIMED_OUT', async () => {
    await expect(withTimeout(5000, AbortSignal.timeout(10), hang)).rejects.toMatchObject({
      code: 'TIMED_OUT',
    });
  });

  it('keeps an error from before the timeout', async () => {
    await expect(withTimeout(5000, never, () => Promise.reject(own))).rejects.toBe(own);
  });
});

describe('untilAborted', () => {
  it('leaves no listener on the signal', async () => {
    const { signal } = new AbortController();

    await untilAborted(signal, Promise.resolve());

    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('stops waiting for work that ignores the signal', async () => {
    await expect(
      untilAborted(AbortSignal.timeout(10), setTimeout(60_000, 1, { ref: false })),
    ).rejects.toMatchObject({ code: 'TIMED_OUT' });
  });

  it('does not wait if the signal has aborted already', async () => {
    const work = setTimeout(60_000, 1, { ref: false });

    await expect(untilAborted(AbortSignal.abort(own), work)).rejects.toBe(own);
  });
});

describe('within', () => {
  it('returns undefined, or throws the given error, when the time is over', async () => {
    const work = setTimeout(60_000, 1, { ref: false });

    expect(await within(10, work)).toBeUndefined();
    await expect(within(10, work, own)).rejects.toBe(own);
  });
});

describe('withAnySignal', () => {
  it('aborts with the reason of the first signal that aborts', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const ended = withAnySignal([first.signal, second.signal], hang);
    second.abort(own);
    first.abort();

    await expect(ended).rejects.toMatchObject({ cause: own });
  });

  it('is aborted from the start if a signal was', async () => {
    const isAborted = await withAnySignal([never, AbortSignal.abort()], async ({ aborted }) => aborted);

    expect(isAborted).toBe(true);
  });

  it.each(['withAnySignal', 'withTimeout'] as const)('%s keeps nothing after its work', async (name) => {
    const used: WeakRef<object>[] = [];
    for (let call = 0; call < 20; call++) await useSignal(name, used);
    await setImmediate();
    collectGarbage();

    expect(used.filter((object) => object.deref() !== undefined)).toEqual([]);
  });
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Adds a listener that uses the source of its signal, and is never removed. */
async function useSignal(name: 'withAnySignal' | 'withTimeout', used: WeakRef<object>[]): Promise<void> {
  const source = new AbortController();
  const work = async (signal: AbortSignal) => {
    const object = { source };
    used.push(new WeakRef(object));
    signal.addEventListener('abort', () => object.source.abort());
  };
  if (name === 'withTimeout') await withTimeout(60_000, source.signal, work);
  else await withAnySignal([source.signal, never], work);
}

/** A server in another thread. It sends a byte when it gets a message, and tells in shared memory when it has. */
const SERVER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const server = require('node:net').createServer((socket) => {
    parentPort.once('message', () => socket.write('x', () => Atomics.store(workerData, 0, 1)));
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`;

describe('a timer for what arrives', () => {
  const late = vi.fn();

  afterEach(() => {
    late.mockClear();
  });

  it('reads what has arrived while the process was busy before it is over', async () => {
    const sent = new Int32Array(new SharedArrayBuffer(4));
    const thread = new Worker(SERVER, { eval: true, workerData: sent });
    const [port] = await once(thread, 'message');
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const timer = startArrivalTimer(100, late);
    const arrived = once(socket, 'data').then(() => timer.stop());

    thread.postMessage('send');
    const end = performance.now() + 200;
    while (performance.now() < end || Atomics.load(sent, 0) === 0);
    await arrived;
    await setTimeout(10);

    expect(late).not.toHaveBeenCalled();
    socket.destroy();
    await thread.terminate();
  });

  it('is over if nothing has arrived, unless it is stopped', async () => {
    startArrivalTimer(10, late);
    const stopped = startArrivalTimer(10, late);

    stopped.stop();

    await expect.poll(() => late.mock.calls.length).toBe(1);
    await setTimeout(50);
    expect(late).toHaveBeenCalledTimes(1);
  });

  it('starts again', async () => {
    const timer = startArrivalTimer(10, late);
    await expect.poll(() => late.mock.calls.length).toBe(1);

    timer.restart();

    await expect.poll(() => late.mock.calls.length).toBe(2);
  });
});
