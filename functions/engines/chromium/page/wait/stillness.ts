import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { threadTimes } from '../../../worker/linux/proc.ts';
import { areBusy } from '../../browser/processes.ts';
import { FRAME_INTERVAL } from '../frames.ts';
import type { Session } from '../session.ts';
import type { WatchedDocument } from './navigation.ts';
import { readMetrics, startTimeLimit, type TimeLimit, type VirtualTime } from './virtual-time.ts';

/** A page whose clock is stopped, and when it last changed. */
export interface Stillness {
  /**
   * Advances the page's clock until nothing has changed for a while, for at most `period` milliseconds. Returns false
   * if the page was still changing by then, and true if another document has replaced it.
   */
  untilStill(options: StillnessOptions): Promise<boolean>;
  /**
   * Advances the page's clock by `time` milliseconds with a frame that is not drawn. Gives up when `limit` is over.
   */
  pass(time: number, limit: TimeLimit): Promise<void>;
  /** Starts a limit in milliseconds. It includes the time that the page spends waiting. */
  startLimit(time: number): Promise<TimeLimit>;
  /** Whether scripts have run since the last call of this function or of `untilStill`. */
  haveScriptsRun(): Promise<boolean>;
  /** Restarts the wait after a change that frames may not show. */
  noteChange(): void;
}

interface StillnessOptions {
  /** Maximum number of milliseconds on the page's clock. */
  readonly period: number;
  /** How long the page must not have changed on its own clock to count as still, in milliseconds. */
  readonly stillTime: number;
  /** Whether to also wait for threads, processes and disks that respond on the real clock. */
  readonly withOthers: boolean;
}

/** How long a page with streams or workers must not have changed, in milliseconds. They run on the real clock. */
const STREAM_TIME = 2000;
/** Milliseconds per idle check. A browser is idle if its threads run for at most `IDLE_LOAD` of them. */
const IDLE_TIME = 25;
const IDLE_LOAD = 0.5;
/** Maximum CPU milliseconds of the page's main thread for a frame in which nothing happens. */
const FRAME_LOAD = 2;
/**
 * How long to wait for other threads, processes and disks to call back into a script, in milliseconds, and the
 * maximum by which a busy machine extends that.
 */
const RESPONSE_TIME = 120;
const MAX_DELAY = 360;
/**
 * The same after a callback while the page's clock was stopped, because another may follow: databases pause between
 * callbacks.
 */
const NEXT_RESPONSE_TIME = 300;
/** Maximum factor by which a busy machine extends the time for scripts that run all the time. */
const MAX_BUSYNESS = 4;
/**
 * How long scripts that run all the time count as activity, in milliseconds on an idle machine, unless they change
 * the page or wait for a computation.
 */
const RESTLESS_TIME = 2000;
/** How long a request without progress stops the page's clock, in milliseconds. */
const STALL_TIME = 1000;
/** Virtual milliseconds that are enough to run all tasks without a delay. */
const TASK_STEP = 1;
/**
 * Maximum virtual milliseconds between two frames: of a page that is slow to draw, and of one in which nothing
 * happens.
 */
const SLOW_FRAME = 100;
const IDLE_FRAME = 250;
/** Interval between two checks for work that depends on the real clock, in milliseconds. */
const INTERVAL = 10;

/** Watches a page whose clock `time` controls, as long as it shows the document with this loader ID. */
export async function watchStillness(
  session: Session,
  time: VirtualTime,
  watched: WatchedDocument,
  documentId: string,
): Promise<Stillness> {
  const { requests } = watched;
  let measured = await readMetrics(session);
  /** When the page last changed, on its own clock and on the real one. Later activity of requests counts as a new change. */
  let changed = time.elapsed();
  let seen = performance.now();
  /** When scripts, or another thread of the browser, were last busy, on the real clock. */
  let busyAt = performance.now();
  /** When something outside the page last called its scripts while the clock was stopped, on the real clock. */
  let calledAt = Number.NEGATIVE_INFINITY;
  /** Whether scripts of the page have run since it was first measured. */
  let isAlive = false;
  /** Whether only work on the real clock is still pending. */
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
   * Measures again and returns whether scripts have run since the last measurement. Chromium does not count the time
   * of promise reactions, so memory is compared too. Scripts of the service also take memory.
   */
  async function haveScriptsRun({ countsMemory = true } = {}): Promise<boolean> {
    const before = measured;
    measured = await readMetrics(session);
    const hasRun = measured.script !== before.script || (countsMemory && measured.memory !== before.memory);
    isAlive ||= hasRun;
    return hasRun;
  }

  /** Advances the clock and draws a frame. */
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

  const isCurrent = () => watched.documentId() === documentId;

  /**
   * Advances the clock until nothing has changed for `stillTime`. Returns false if `isOver` or the limit came first.
   */
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
        isStalled ? realTime : requests.areRelevant() ? TASK_STEP : interval,
        limit,
      );
      const now = performance.now();
      if (hasRun) busyAt = now;
      // A page that is slow to draw gets as much real time as virtual time.
      interval =
        !hasChanged && !hasRun && load < FRAME_LOAD
          ? Math.min(IDLE_FRAME, 2 * interval)
          : Math.min(SLOW_FRAME, Math.max(FRAME_INTERVAL, now - begun));
    }
    return false;
  }

  /** Stops the clock until nothing outside the page responds any more. Returns false if the page changes first. */
  async function untilOthersAreIdle(limit: TimeLimit, restlessTime: number): Promise<boolean> {
    const since = performance.now();
    /** How long the browser has waited for a processor since scripts last ran, in milliseconds. */
    let delayed = 0;
    /** How long nothing but scripts has been busy, in milliseconds. */
    let scriptsOnly = 0;
    let last = since;
    while (isCurrent() && !watched.willRefresh() && !(await limit.isOver())) {
      const begun = performance.now();
      // Messages of streams and workers arrive on the real clock.
      const isStreaming = requests.haveStream() || (await session.hasWorkers());
      // Skip sampling right after a callback: the next one may follow immediately.
      const look = begun - calledAt < IDLE_TIME ? undefined : await sampleActivity(session);
      delayed += look?.delayed ?? 0;
      // Without a frame, the only scripts that run are those called by something outside the page.
      await step(TASK_STEP, { limit, frame: 'none' });
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
    // Scripts of the service may have taken the memory, so this counts only in a page with scripts of its own.
    if (await haveScriptsRun({ countsMemory: isAlive })) busyAt = performance.now();
    const begun = performance.now();
    // Only a page whose frames take longer than `SLOW_FRAME` needs more real time than virtual time.
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
      // The page has changed, which may start something that takes time on its clock.
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

/** Returns how many programs compete for each processor, at least 1. */
function busynessNow(): number {
  const load = (loadavg()[0] ?? 0) / availableParallelism();
  return Math.min(MAX_BUSYNESS, Math.max(1, load));
}

/**
 * Returns whether all threads of the browser are idle, and for how many milliseconds one waited for a processor
 * meanwhile.
 */
async function sampleActivity(
  session: Session,
): Promise<{ readonly isIdle: boolean; readonly delayed: number }> {
  const processes = await session.processes();
  const before = threadTimes(processes);
  await sleep(IDLE_TIME);
  const after = threadTimes(processes);
  if (!before || !after) {
    // The kernel does not provide these times.
    await sleep(RESPONSE_TIME * busynessNow());
    return { isIdle: !areBusy(processes), delayed: 0 };
  }
  // The times of an exited thread no longer count, so the sums become smaller.
  const load = Math.abs(after.running - before.running);
  const isIdle = load <= IDLE_LOAD && !areBusy(processes);
  return { isIdle, delayed: Math.max(0, after.waiting - before.waiting) };
}
