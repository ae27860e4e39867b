import { setTimeout } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { serveHttp } from '../../helpers/fault-server.ts';
import { startHeartbeat } from './heartbeat.ts';
import { judge, MAX_MEMORY, type Verdict } from './verdict.ts';
import { SHORT_FORM_DELAY } from './watch.ts';

const LATE = 500;
const closing: Array<() => unknown> = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** Judges a service that takes a number of milliseconds, on a machine where an idle server takes another. */
async function judged(times: { service: number; idle: number }, maxDelay: number): Promise<Verdict> {
  const service = await serveHttp(async (_request, response) => {
    await setTimeout(times.service);
    response.writeHead(422, { 'x-error-code': 'SOURCE_STATUS' }).end();
  });
  const idle = await serveHttp(async (_request, response) => {
    await setTimeout(times.idle / 3);
    response.writeHead(404).end();
  });
  closing.push(service.close, idle.close);
  const heartbeat = startHeartbeat(service.origin, 'key', new URL(idle.origin).host);
  closing.push(heartbeat.stop);
  return judge({ heartbeat, peakMemory: () => MAX_MEMORY, mainThreadTime: () => 0 }, maxDelay);
}

it('fails a service that another account waits for, however slow an idle server is at another time', async () => {
  const { failures, unproven } = await judged({ service: LATE, idle: 0 }, 250);

  expect(failures).toEqual([expect.stringMatching(/waited \d+ ms while an idle server answered/)]);
  expect(unproven).toBeUndefined();
});

it('proves nothing if an idle server is as slow at the same time', async () => {
  const { failures, unproven } = await judged({ service: LATE, idle: LATE }, 250);

  expect(failures).toEqual([]);
  expect(unproven).toMatch(/took \d+ ms on a busy machine/);
});

it('proves nothing if an idle server is slow most of the time', async () => {
  const { failures, unproven } = await judged({ service: LATE, idle: LATE / 2 }, 250);

  expect(failures).toEqual([]);
  expect(unproven).toBeDefined();
});

it('proves nothing in the short form, which allows more than the target', async () => {
  const { failures, unproven } = await judged({ service: LATE, idle: 0 }, SHORT_FORM_DELAY);

  expect(failures).toEqual([]);
  expect(unproven).toBeDefined();
});
