import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { threadTimes } from '../../../worker/linux/proc.ts';
import { areBusy } from '../../browser/processes.ts';
import { FRAME_INTERVAL } from '../frames.ts';
import type { Session } from '../session.ts';
import { readMetrics } from './metrics.ts';
import type { WatchedDocument } from './navigation.ts';
import { startTimeLimit, type TimeLimit } from './time-limit.ts';
import type { VirtualTime } from './virtual-time.ts';

/** A page whose clock is stopped, and when it last changed. */
export interface Stillness {
  /**
   * Moves the page's clock until nothing has changed for a while, for at most `period` milliseconds. Returns false if it did
   * until then, and true for a page that another document has replaced.
   */
  untilStill(options: StillnessOptions): Promise<boolean>;
  /** Lets milliseconds of the page's time pass with a frame that is not drawn. Gives up when `limit` is over. */
  pass(time: number, limit: TimeLimit): Promise<void>;
  /** Starts a limit of milliseconds that include what the page waits for. */
  startLimit(time: number): Promise<TimeLimit>;
  /** Whether scripts have run since the last call, or of `untilStill`. */
  haveScriptsRun(): Promise<boolean>;
  /** Restarts the wait after a change that frames may not show. */
  noteChange(): void;
}

export interface StillnessOptions {
  /** Maximum number of milliseconds on the page's clock. */
  readonly period: number;
  /** Milliseconds on the page's clock for which it must not have changed. */
  readonly stillTime: number;
  /** Whether to wait also for threads, processes and disks that respond on the real clock. */
  readonly withOthers: boolean;
}

/** Milliseconds for which a page with streams or workers must not have changed. They run on the real clock. */
const STREAM_TIME = 2000;
/** The threads of an idle browser run for at most `IDLE_LOAD` of these milliseconds. */
const IDLE_TIME = 25;
const IDLE_LOAD = 0.5;
/** Maximum milliseconds of the page's thread for a frame in which nothing happens. */
const FRAME_LOAD = 2;
/**
 * Milliseconds in which other threads, processes and disks respond to a script, and by how much time without a processor can extend
 * that.
 */
const RESPONSE_TIME = 120;
const MAX_DELAY = 360;
/** The same after they have called a page whose clock was stopped, because they may call again: databases pause in between. */
const NEXT_RESPONSE_TIME = 300;
/** Maximum factor by which the time for scripts that run all the time grows on a busy machine. */
const MAX_BUSYNESS = 4;
/**
 * Milliseconds, on an idle machine, after which scripts that run all the time no longer count as activity if they neither change
 * the page nor wait for a computation.
 */
const RESTLESS_TIME = 2000;
/** Milliseconds without progress after which a request no longer stops the page's clock. */
const STALL_TIME = 1000;
/** Virtual milliseconds in which all tasks without a delay run. */
const MOMENT = 1;
/** Maximum virtual milliseconds between two frames of a page that is slow to draw, and of one in which nothing happens. */
const SLOW_FRAME = 100;
const IDLE_FRAME = 250;
/** Milliseconds between two checks for work that depends on the real clock. */
const INTERVAL = 10;

/** Watches a page whose clock `time` controls, as long as `document` is the one that it shows. */
export async function watchStillness(
  session: Session,
  time: VirtualTime,
  watched: WatchedDocument,
  document: string,
): Promise<Stillness> {
  const { requests } = watched;
  let measured = await readMetrics(session);
  /** When the page last changed, on its own clock and on the real one. Later activity of requests counts as a new change. */
  let changed = time.elapsed();
  let seen = performance.now();
  /** When scripts, or another thread of the browser, last had something to do, on the real clock. */
  let busyAt = performance.now();
  /** When something outside the page last called its scripts while the clock stood still, on the real clock. */
  let calledAt = Number.NEGATIVE_INFINITY;
  /** Whether scripts of the page have run since it was first measured. */
  let isAlive = false;
  /** Whether only what runs on the real clock is waited for. */
  let isClockStopped = false;

  const startLimit = (period: number) =>
    startTimeLimit(
      session,
      period,
      (since) => isClockStopped || requests.areRelevant() || requests.lastActivity() >= since,
    );

  function step(
    period: number,
    options: { readonly limit: TimeLimit; readonly frame?: 'produced' | 'none' },
  ) {
    const ignoresRequests = () => !requests.areRelevant() || requests.stalledFor() >= STALL_TIME;
    return time.advance(period, { ...options, ignoresRequests });
  }

  /**
   * Measures again, and returns whether scripts have run since the last measurement. Chromium does not count the time of promise
   * reactions, but they take memory, as do scripts of the service.
   */
  async function haveScriptsRun({ countsMemory = true } = {}): Promise<boolean> {
    const before = measured;
    measured = await readMetrics(session);
    const hasRun = measured.script !== before.script || (countsMemory && measured.memory !== before.memory);
    isAlive ||= hasRun;
    return hasRun;
  }

  /** Lets milliseconds pass and draws a frame. */
  async function draw(period: number, limit: TimeLimit) {
    const before = measured;
    const isDamaged = await step(period, { limit });
    const hasRun = await haveScriptsRun();
    const hasChanged = isDamaged || requests.areRelevant() || requests.lastActivity() > seen;
    if (hasChanged) {
      changed = time.elapsed();
      seen = performance.now();
    }
    return { hasChanged, hasRun, load: measured.task - before.task };
  }

  const isCurrent = () => watched.document() === document;

  /** Moves the clock until nothing has changed for `stillTime`. Returns false if it did until `isOver` or the limit. */
  async function untilQuiet(stillTime: number, isOver: () => Promise<boolean>, limit: TimeLimit) {
    let interval = FRAME_INTERVAL;
    let last = performance.now();
    while (isCurrent() && !(await limit.isOver())) {
      if (!watched.willRefresh()) {
        if (time.elapsed() - changed >= stillTime) return true;
        if (await isOver()) return false;
      }
      if (requests.areRelevant()) await sleep(INTERVAL);
      const begun = performance.now();
      const realTime = Math.min(SLOW_FRAME, begun - last);
      last = begun;
      const isStalled = requests.stalledFor() >= STALL_TIME;
      const { hasChanged, hasRun, load } = await draw(
        isStalled ? realTime : requests.areRelevant() ? MOMENT : interval,
        limit,
      );
      const now = performance.now();
      if (hasRun) busyAt = now;
      // A page that is slow to draw gets as much real time as time of its own.
      interval =
        !hasChanged && !hasRun && load < FRAME_LOAD
          ? Math.min(IDLE_FRAME, 2 * interval)
          : Math.min(SLOW_FRAME, Math.max(FRAME_INTERVAL, now - begun));
    }
    return false;
  }

  /** Stops the clock until nothing outside the page responds any more. Returns false if the page has changed before. */
  async function untilOthersAreIdle(limit: TimeLimit, restlessTime: number): Promise<boolean> {
    const since = performance.now();
    /** Milliseconds for which the browser had no processor since scripts last ran. */
    let delayed = 0;
    /** Milliseconds in which only the scripts were seen to work. */
    let scriptsOnly = 0;
    let last = since;
    while (isCurrent() && !watched.willRefresh() && !(await limit.isOver())) {
      const begun = performance.now();
      // Messages of streams and workers arrive on the real clock.
      const isStreaming = requests.haveStream() || (await session.hasWorkers());
      // An answer that comes at once should not wait for a look.
      const look = begun - calledAt < IDLE_TIME ? undefined : await lookForWork(session);
      delayed += look?.delayed ?? 0;
      // Without a frame, only scripts run that something outside the page has called.
      await step(MOMENT, { limit, frame: 'none' });
      const hasRun = await haveScriptsRun();
      if (hasRun) {
        calledAt = performance.now();
        delayed = 0;
      }
      if (hasRun || look?.isIdle === false) busyAt = performance.now();

      if (isStreaming) await sleep(INTERVAL);
      const drawnAt = performance.now();
      const { hasChanged } = await draw(isStreaming ? Math.min(SLOW_FRAME, drawnAt - last) : 0, limit);
      last = drawnAt;
      if (hasChanged) return false;
      const now = performance.now();
      const delay = Math.min(MAX_DELAY, delayed);
      const othersAreIdle =
        now - busyAt >= RESPONSE_TIME + delay && now - calledAt >= NEXT_RESPONSE_TIME + delay;
      if (look?.isIdle !== false) scriptsOnly += now - begun;
      const isRestless = hasRun && scriptsOnly >= restlessTime;
      if ((othersAreIdle || isRestless) && now - since >= (isStreaming ? STREAM_TIME : 0)) return true;
    }
    return false;
  }

  async function untilStill({ period, stillTime, withOthers }: StillnessOptions): Promise<boolean> {
    // Scripts of the service may have taken the memory. Only in a page with scripts of its own is that worth a wait.
    if (await haveScriptsRun({ countsMemory: isAlive })) busyAt = performance.now();
    const begun = performance.now();
    // Only a page whose frames take longer than `SLOW_FRAME` needs more real time than time of its own.
    const limit = await startLimit(2 * period);
    let end = time.elapsed() + period;
    const isOver = async () => {
      if (time.elapsed() < end) return false;
      // Messages of streams and workers may change it for as long on the real clock.
      if (!withOthers || performance.now() >= begun + period) return true;
      end = time.elapsed() + period;
      return !(requests.haveStream() || (await session.hasWorkers()));
    };
    while (await untilQuiet(stillTime, isOver, limit)) {
      if (!withOthers) return true;
      isClockStopped = true;
      const othersAreIdle = await untilOthersAreIdle(limit, RESTLESS_TIME * busynessNow());
      isClockStopped = false;
      if (othersAreIdle) return true;
      // It has changed, which may start something that takes its time on the clock of the page.
      end = time.elapsed() + period;
    }
    if (!isCurrent()) return true;
    const isLate = (await limit.isOver()) || watched.willRefresh();
    return !isLate && time.elapsed() - changed >= stillTime / 2;
  }

  const noteChange = () => {
    changed = time.elapsed();
  };
  return {
    untilStill,
    pass: async (period, limit) => void (await step(period, { limit, frame: 'produced' })),
    startLimit,
    haveScriptsRun: async () => {
      if (!(await haveScriptsRun({ countsMemory: false }))) return false;
      busyAt = performance.now();
      noteChange();
      return true;
    },
    noteChange,
  };
}

/** Returns how many programs compete for each processor, from 1. */
function busynessNow(): number {
  const load = (loadavg()[0] ?? 0) / availableParallelism();
  return Math.min(MAX_BUSYNESS, Math.max(1, load));
}

/** Returns whether no thread of the browser has anything to do, and for how many milliseconds one had no processor meanwhile. */
async function lookForWork(
  session: Session,
): Promise<{ readonly isIdle: boolean; readonly delayed: number }> {
  const processes = await session.processes();
  const before = threadTimes(processes);
  await sleep(IDLE_TIME);
  const after = threadTimes(processes);
  if (!before || !after) {
    // The kernel does not tell.
    await sleep(RESPONSE_TIME * busynessNow());
    return { isIdle: !areBusy(processes), delayed: 0 };
  }
  // The times of a thread that has ended no longer count, so the sums become smaller.
  const load = Math.abs(after.running - before.running);
  const isIdle = load <= IDLE_LOAD && !areBusy(processes);
  return { isIdle, delayed: Math.max(0, after.waiting - before.waiting) };
}
