import { setTimeout } from 'node:timers/promises';
import type { CDPSession } from 'puppeteer-core/internal/api/CDPSession.js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { framesOf } from '../../../../../functions/engines/chromium/page/frames.ts';

/** A page that needs some frames to get its new size, as happens under load. */
function pageWithout(frames: number): CDPSession {
  let made = 0;
  const send = async (_method: string, { screenshot }: { screenshot?: object }) => {
    made += 1;
    if (made <= frames || screenshot === undefined) return { hasDamage: false };
    return { hasDamage: true, screenshotData: Buffer.from('picture').toString('base64') };
  };
  return { send } as unknown as CDPSession;
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a picture', () => {
  it('is waited for while frames have none', async () => {
    vi.spyOn(performance, 'now').mockReturnValue(0);
    const frames = framesOf(pageWithout(200));
    frames.start();

    expect((await frames.screenshot({ format: 'png' })).toString()).toBe('picture');
    frames.stop();
  });

  it('is CONVERSION_FAILED if there is none within seconds', async () => {
    const frames = framesOf(pageWithout(Number.POSITIVE_INFINITY));
    frames.start();
    const ended = vi.fn();
    const now = vi.spyOn(performance, 'now').mockReturnValue(0);

    const screenshot = frames.screenshot({ format: 'png' });
    screenshot.catch(ended);
    await setTimeout(100);
    const endedEarly = ended.mock.calls.length;
    now.mockReturnValue(10_000);

    await expect(screenshot).rejects.toMatchObject({ code: 'CONVERSION_FAILED' });
    expect(endedEarly).toBe(0);
    frames.stop();
  });
});

it('tells while a frame does not end, and no longer once it has', async () => {
  vi.useFakeTimers();
  const answer = Promise.withResolvers<object>();
  const told: (() => boolean)[] = [];
  const protocol = { send: () => answer.promise } as unknown as Parameters<typeof framesOf>[0];
  const step = framesOf(protocol, (isPending) => told.push(isPending)).step(true);

  await vi.advanceTimersByTimeAsync(20_000);
  const pending = told.map((isPending) => isPending());
  answer.resolve({ hasDamage: true });
  const hasChanged = await step;
  await vi.advanceTimersByTimeAsync(20_000);
  vi.useRealTimers();

  expect(pending).toEqual([true, true]);
  expect(hasChanged).toBe(true);
  expect(told.map((isPending) => isPending())).toEqual([false, false]);
});

it('are not produced for a page that has been closed', async () => {
  const page = { detached: false, send: vi.fn(async () => ({ hasDamage: false })) };
  const frames = framesOf(page as unknown as CDPSession);
  frames.start();
  await expect.poll(() => page.send.mock.calls.length).toBeGreaterThan(1);

  page.detached = true;
  await setTimeout(50);
  const produced = page.send.mock.calls.length;
  await setTimeout(100);
  frames.stop();

  expect(page.send.mock.calls.length).toBe(produced);
});
