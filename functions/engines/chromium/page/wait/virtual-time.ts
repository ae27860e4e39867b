import { setTimeout as sleep } from 'node:timers/promises';
import { FRAME_INTERVAL } from '../frames.ts';
import type { Session } from '../session.ts';

/** The page's clock, decoupled from the real one: timers and animations of seconds pass in milliseconds. */
export interface VirtualTime {
  /** Virtual milliseconds that have passed. */
  elapsed(): number;
  /**
   * Advances the page's clock by `time` milliseconds, then draws a frame. With 0, it only draws. The clock is stopped
   * while a request is pending, unless `ignoresRequests` returns true. Gives up when `limit` is over. Returns whether
   * the page looks different.
   */
  advance(time: number, options: AdvanceOptions): Promise<boolean>;
}

interface AdvanceOptions {
  ignoresRequests(): boolean;
  readonly limit: TimeLimit;
  /** Whether the frame is drawn (the default), only produced, or skipped. */
  readonly frame?: 'drawn' | 'produced' | 'none';
}

/** State of a page's clock. The next document continues it, because no frame may be earlier than the previous one. */
export interface Clock {
  /** The time in milliseconds at which virtual time starts in Chromium. */
  base: number;
  /** Virtual milliseconds since then. */
  elapsed: number;
  /** Time of the last frame, milliseconds. */
  ticks: number;
}

/**
 * Real milliseconds between two steps of `unblock`, and virtual milliseconds per step. One virtual millisecond is not
 * enough for a print.
 */
const NUDGE_INTERVAL = 100;
const NUDGE = 50;

type Policy = 'advance' | 'pauseIfNetworkFetchesPending';

/** Returns the clock of a page that has not navigated yet. */
export function newClock(): Clock {
  return { base: Number.NaN, elapsed: 0, ticks: 0 };
}

/** Stops the page's clock. From here on only `advance` moves it, and the regular frames are stopped. */
export async function startVirtualTime(session: Session, clock: Clock): Promise<VirtualTime> {
  const { protocol, frames } = session;
  frames.stop();
  session.stopped = true;
  let expire = () => {};
  protocol.on('Emulation.virtualTimeBudgetExpired', () => expire());
  const { virtualTimeTicksBase } = await protocol.send('Emulation.setVirtualTimePolicy', { policy: 'pause' });
  if (virtualTimeTicksBase !== clock.base) {
    // The first document, or one in another process.
    clock.base = virtualTimeTicksBase;
    clock.elapsed = 0;
  }
  const begun = (await readClock(session)) - clock.elapsed;
  frames.useClock(() => {
    // Each frame needs a later time than the previous one, even while the clock is stopped. Chromium truncates times
    // to microseconds, and a drawn frame with the same time as the previous one never ends.
    clock.ticks = Math.max(clock.ticks + 0.01, clock.base + clock.elapsed);
    return clock.ticks;
  });

  /** Resolves when the page has used up `budget` milliseconds. */
  function grant(policy: Policy, budget: number): Promise<void> {
    return new Promise((resolve, reject) => {
      expire = resolve;
      protocol.send('Emulation.setVirtualTimePolicy', { policy, budget }).catch(reject);
    });
  }

  /** Grants the time that the page's clock needs to reach `target`. */
  async function moveTo(target: number, limit: TimeLimit): Promise<void> {
    while (!(await limit.isOver())) {
      const missing = target - (await readClock(session));
      // Clocks are rounded, and during a navigation there is none.
      if (!(missing > 1)) return;
      await Promise.race([grant('advance', missing), sleep(FRAME_INTERVAL)]);
    }
  }

  return {
    elapsed: () => clock.elapsed,
    advance: async (time, { ignoresRequests, limit, frame = 'drawn' }) => {
      if (time === 0) return frames.step(frame === 'drawn');
      let passed = false;
      const pass = (policy: Policy) =>
        grant(policy, time).then(() => {
          passed = true;
        });
      let passing = pass('pauseIfNetworkFetchesPending');
      let isForced = false;
      let hasChanged = false;
      for (;;) {
        await Promise.race([passing, sleep(FRAME_INTERVAL)]);
        if (passed || (await limit.isOver())) break;
        // Pending work may be waiting for a frame.
        hasChanged = (await frames.step(frame === 'drawn')) || hasChanged;
        if (isForced || !ignoresRequests()) continue;
        // A request may have stopped the clock just now. Its event arrives before this response.
        await readClock(session);
        if (passed || !ignoresRequests()) continue;
        isForced = true;
        passing = pass('advance');
      }
      // The end of a replaced budget may have been mistaken for the end of a later one.
      if (isForced) await moveTo(begun + clock.elapsed + time, limit);
      clock.elapsed += time;
      if (frame === 'none') return hasChanged;
      return (await frames.step(frame === 'drawn')) || hasChanged;
    },
  };
}

/** Advances a page's stopped clock while regular frames are running. */
export async function passTime({ protocol, stopped }: Session, time: number): Promise<void> {
  if (!stopped) return sleep(time);
  const passed = new Promise<void>((resolve) =>
    protocol.once('Emulation.virtualTimeBudgetExpired', () => resolve()),
  );
  await protocol.send('Emulation.setVirtualTimePolicy', { policy: 'advance', budget: time });
  await Promise.race([passed, sleep(2 * time)]);
}

/**
 * Waits for `work` that may depend on a task of a page whose clock is stopped. While the page is idle but `work` is
 * not done, the clock advances at half speed, in steps. It stays stopped while the page is busy, however long that
 * takes, because the page would look different afterwards.
 */
export async function unblock<Value>(session: Session, work: Promise<Value>): Promise<Value> {
  if (!session.stopped) return work;
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  const nudge = async () => {
    await sleep(NUDGE_INTERVAL);
    // Responds when the page is idle. The result of its work may arrive slightly later.
    if (!isDone) await readClock(session);
    for (;;) {
      await sleep(NUDGE_INTERVAL);
      if (isDone) return;
      await session.protocol.send('Emulation.setVirtualTimePolicy', { policy: 'advance', budget: NUDGE });
    }
  };
  nudge().catch(() => {});
  return done;
}

/** Returns the milliseconds on the page's own clock, or `NaN` while it cannot be read, during a navigation. */
async function readClock(session: Session): Promise<number> {
  const metrics = await readMetrics(session).catch(() => undefined);
  return metrics?.clock ?? Number.NaN;
}

/** The work that the main thread of a page and its frames has done so far. Reading it runs no script in the page. */
interface Metrics {
  /** CPU milliseconds of the page's scripts, without those of the service, and of all tasks. */
  readonly script: number;
  readonly task: number;
  /** Bytes of JavaScript objects, including those of the service. */
  readonly memory: number;
  /**
   * The page's clock in milliseconds. It is stopped between the steps of virtual time, and only differences are
   * meaningful.
   */
  readonly clock: number;
}

/** Reads the metrics of Chromium's `PerformanceAgent`, which counts in seconds. */
export async function readMetrics({ protocol }: Session): Promise<Metrics> {
  const { metrics } = await protocol.send('Performance.getMetrics');
  const values = new Map(metrics.map(({ name, value }) => [name, value]));
  const milliseconds = (name: string) => 1000 * (values.get(name) ?? 0);
  return {
    script: milliseconds('ScriptDuration'),
    task: milliseconds('TaskDuration'),
    memory: values.get('JSHeapUsedSize') ?? 0,
    clock: milliseconds('Timestamp'),
  };
}

/** A limit of real time for a page. Time that other programs take from it does not count, up to a maximum. */
export interface TimeLimit {
  /** Whether the time, or the given part of it, is used up. Call it often, because it also measures. */
  isOver(part?: number): Promise<boolean>;
}

/** Maximum factor by which a limit grows on a busy machine. */
const MAX_STRETCH = 4;

/**
 * Starts a limit of real milliseconds. Beyond them, it counts only the browser's CPU time and the time in which
 * `isWaiting` was true, up to `MAX_STRETCH` times the limit. `isWaiting` gets the start of the interval that it is
 * asked about, on the clock of `performance.now()`.
 */
export async function startTimeLimit(
  session: Session,
  time: number,
  isWaiting: (since: number) => boolean,
): Promise<TimeLimit> {
  const begun = performance.now();
  const before = await session.processorTime();
  let measured = begun;
  let waited = 0;
  return {
    isOver: async (part = 1) => {
      const now = performance.now();
      if (isWaiting(measured)) waited += now - measured;
      measured = now;
      const limit = part * time;
      if (now - begun < limit) return false;
      if (now - begun >= MAX_STRETCH * limit) return true;
      return waited + (await session.processorTime()) - before >= limit;
    },
  };
}
