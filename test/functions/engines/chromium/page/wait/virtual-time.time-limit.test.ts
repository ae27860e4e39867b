import { beforeEach, expect, it, vi } from 'vitest';
import type { Session } from '../../../../../../functions/engines/chromium/page/session.ts';
import { startTimeLimit } from '../../../../../../functions/engines/chromium/page/wait/virtual-time.ts';

/** Real time that has passed, and CPU time of the browser, in milliseconds. */
let passed: number;
let running: number;

beforeEach(() => {
  passed = 0;
  running = 0;
  const now = vi.spyOn(performance, 'now').mockImplementation(() => 1000 + passed);
  return () => now.mockRestore();
});

function limitOf(time: number, isWaiting = () => false) {
  const session = { processorTime: async () => 7000 + running } as unknown as Session;
  return startTimeLimit(session, time, isWaiting);
}

it('is over when the browser has run for as long', async () => {
  const limit = await limitOf(500);
  [passed, running] = [499, 900];
  expect(await limit.isOver()).toBe(false);

  passed = 500;

  expect(await limit.isOver()).toBe(true);
});

it('is not over while other programs have the processors, but in the end', async () => {
  const limit = await limitOf(500);
  [passed, running] = [1999, 499];
  expect(await limit.isOver()).toBe(false);

  passed = 2000;

  expect(await limit.isOver()).toBe(true);
});

it('includes the time in which the page waits', async () => {
  let isWaiting = true;
  const limit = await limitOf(500, () => isWaiting);
  passed = 300;
  await limit.isOver();
  isWaiting = false;
  [passed, running] = [1000, 199];
  expect(await limit.isOver()).toBe(false);

  running = 200;

  expect(await limit.isOver()).toBe(true);
});

it('can be over in part', async () => {
  const limit = await limitOf(500);
  [passed, running] = [400, 250];

  expect(await limit.isOver(1 / 2)).toBe(true);
  expect(await limit.isOver()).toBe(false);
});
