import { setTimeout as sleep } from 'node:timers/promises';
import { evaluate } from '../evaluate.ts';
import { FRAME_INTERVAL } from '../frames.ts';
import type { Session } from '../session.ts';

/** The page's clock, decoupled from the real one: timers and animations of seconds pass in milliseconds. */
export interface VirtualTime {
  /** Virtual milliseconds that have passed. */
  elapsed(): number;
  /**
   * Lets `time` milliseconds pass for the page, then produces a frame. The clock stands still while a request is pending,
   * unless `ignoresRequests` returns true. Gives up at the real `deadline` (`performance.now()`).
   */
  advance(time: number, options: { ignoresRequests(): boolean; deadline: number }): Promise<void>;
  /** Lets the clock run on by itself, still stopped by requests, for a page that navigates. */
  release(): Promise<void>;
}

/** Virtual milliseconds that a page has while it navigates. */
const RELEASED = 30_000;

type Policy = 'advance' | 'pauseIfNetworkFetchesPending';

/** Stops the page's clock. From here on only `advance` moves it, and the regular frames are stopped. */
export async function startVirtualTime(session: Session): Promise<VirtualTime> {
  const { protocol, frames } = session;
  frames.stop();
  let elapsed = 0;
  let ticks = 0;
  let expire = () => {};
  protocol.on('Emulation.virtualTimeBudgetExpired', () => expire());
  const { virtualTimeTicksBase } = await protocol.send('Emulation.setVirtualTimePolicy', { policy: 'pause' });
  const begun = await readClock(session);
  frames.useClock(() => {
    // Each frame needs a later time than the previous one, even while the clock stands still.
    ticks = Math.max(ticks + 0.001, virtualTimeTicksBase + elapsed);
    return ticks;
  });

  /** Resolves when the page has used up `budget` milliseconds. */
  function grant(policy: Policy, budget: number): Promise<void> {
    return new Promise((resolve, reject) => {
      expire = resolve;
      protocol.send('Emulation.setVirtualTimePolicy', { policy, budget }).catch(reject);
    });
  }

  return {
    elapsed: () => elapsed,
    advance: async (time, { ignoresRequests, deadline }) => {
      let passed = false;
      const pass = (policy: Policy) =>
        grant(policy, time).then(() => {
          passed = true;
        });
      let passing = pass('pauseIfNetworkFetchesPending');
      let isForced = false;
      for (;;) {
        await Promise.race([passing, sleep(FRAME_INTERVAL)]);
        if (passed || performance.now() >= deadline) break;
        // Pending work may be waiting for a frame.
        await frames.step();
        if (!isForced && ignoresRequests()) {
          isForced = true;
          passing = pass('advance');
        }
      }
      // The end of a replaced budget may have been mistaken for the end of its successor.
      if (isForced) await untilClock(session, begun + elapsed + time, deadline);
      elapsed += time;
      await frames.step();
    },
    release: async () => {
      await protocol.send('Emulation.setVirtualTimePolicy', {
        policy: 'pauseIfNetworkFetchesPending',
        budget: RELEASED,
      });
      frames.start();
    },
  };
}

/** Milliseconds on the page's own clock, which continues across navigations. `NaN` during one. */
async function readClock(session: Session): Promise<number> {
  const time = await evaluate(session, '() => performance.timeOrigin + performance.now()').catch(
    () => undefined,
  );
  return typeof time === 'number' ? time : Number.NaN;
}

async function untilClock(session: Session, target: number, deadline: number): Promise<void> {
  // Clocks are rounded.
  while (performance.now() < deadline && (await readClock(session)) < target - 1) await sleep(1);
}
