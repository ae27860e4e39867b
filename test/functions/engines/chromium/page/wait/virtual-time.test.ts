import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import type { Session } from '../../../../../../functions/engines/chromium/page/session.ts';
import {
  newClock,
  startVirtualTime,
} from '../../../../../../functions/engines/chromium/page/wait/virtual-time.ts';

/** Delay in milliseconds after which Chromium reports once more that a budget has ended. */
const LATE = 5;

/**
 * A page whose pending request stops the clock unless a budget is forced, and whose browser reports the end
 * of a forced budget twice: once for the budget that it replaced.
 */
function slowPage() {
  let time = 0;
  const protocol = Object.assign(new EventEmitter(), {
    async send(method: string, { policy, budget }: { policy?: string; budget?: number } = {}) {
      if (method === 'Performance.getMetrics')
        return { metrics: [{ name: 'Timestamp', value: time / 1000 }] };
      if (policy === 'advance') {
        time += budget!;
        const expire = () => protocol.emit('Emulation.virtualTimeBudgetExpired');
        setTimeout(expire);
        setTimeout(expire, LATE);
      }
      return { virtualTimeTicksBase: 1000 };
    },
  });
  const frames = { stop() {}, step: async () => {}, useClock() {} };
  return { session: { protocol, frames } as unknown as Session, time: () => time };
}

it('reaches the time that was granted although the end of an earlier budget is reported late', async () => {
  const { session, time } = slowPage();
  const clock = await startVirtualTime(session, newClock());
  const options = { ignoresRequests: () => true, limit: { isOver: async () => false } };

  for (let step = 0; step < 20; step++) await clock.advance(50, options);

  expect(time()).toBeGreaterThan(800);
});
