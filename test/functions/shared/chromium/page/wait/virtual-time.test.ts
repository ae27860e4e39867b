import { expect, it } from 'vitest';
import type { Session } from '../../../../../../functions/shared/chromium/page/session.ts';
import {
  newClock,
  startVirtualTime,
} from '../../../../../../functions/shared/chromium/page/wait/virtual-time.ts';

/** A page whose clock begins at `begin` milliseconds. `clock` is what its frames read, `onCall` runs before each response of a script. */
function pageAt(begin: number, onCall = () => {}) {
  let clock = () => Number.NaN;
  const policies: string[] = [];
  const frames = {
    stop: () => {},
    step: async () => {},
    useClock: (given: () => number) => {
      clock = given;
    },
  };
  const send = async (method: string, { policy }: { policy?: string }) => {
    if (policy) policies.push(policy);
    if (method === 'Runtime.callFunctionOn') onCall();
    return { virtualTimeTicksBase: begin, executionContextId: 1, result: { value: 0 } };
  };
  const session = { protocol: { on: () => {}, send }, frames } as unknown as Session;
  return { session, policies, clock: () => clock() };
}

it.for([23_975_445.266, 23_992_027.358, 0.1])(
  'frames from %s ms have different times in whole microseconds while the clock stands still',
  async (begin) => {
    const { session, clock } = pageAt(begin);
    await startVirtualTime(session, newClock());

    const times = Array.from({ length: 10_000 }, () => Math.trunc(1000 * clock()));

    expect(new Set(times).size).toBe(times.length);
  },
);

it('a request that stops the clock is waited for, although its event is late', async () => {
  let isKnown = false;
  const { session, policies } = pageAt(0, () => {
    isKnown = true;
  });
  const time = await startVirtualTime(session, newClock());
  isKnown = false;

  await time.advance(50, { ignoresRequests: () => !isKnown, deadline: performance.now() + 100 });

  expect(policies).toEqual(['pause', 'pauseIfNetworkFetchesPending']);
});
