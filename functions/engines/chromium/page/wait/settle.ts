import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '../../../../shared/timeout.ts';
import { areBusy, runTime } from '../../browser/processes.ts';
import { revealContent } from '../content/reveal.ts';
import { scrollThrough } from '../content/scroll.ts';
import { evaluate } from '../evaluate.ts';
import { FRAME_INTERVAL } from '../frames.ts';
import type { Session, Viewport } from '../session.ts';
import { setViewport } from '../viewport.ts';
import type { WatchedDocument } from './navigation.ts';
import { type Clock, startVirtualTime, unblock, type VirtualTime } from './virtual-time.ts';

/** Part of the time it has that a page must not have changed for to count as still. */
const STILL_PART = 1 / 2;
/** Milliseconds for which a page with streams or workers must not have changed. They run on the real clock. */
const STREAM_TIME = 2000;
/** Milliseconds in which the threads of a browser that waits for nothing run for `IDLE_LOAD` milliseconds at most. */
const IDLE_TIME = 25;
const IDLE_LOAD = 0.5;
/** Milliseconds for which the page's thread runs at most to produce a frame in which nothing happens. */
const FRAME_LOAD = 2;
/** Milliseconds in which other threads, processes and disks respond to a script, on an idle machine. */
const RESPONSE_TIME = 120;
/** By how much real times are extended at most on a busy machine, on which a page gets a part of a processor. */
const MAX_BUSYNESS = 4;
/** Milliseconds after which scripts no longer count that run all the time without changing the page. */
const RESTLESS_TIME = 2000;
/** Milliseconds without progress after which a request no longer stops the page's clock. */
const STALL_TIME = 1000;
/**
 * Milliseconds, real or virtual, that a page always has to react to its final size. Even one that never stands still is not
 * captured as it was laid out before.
 */
const RESIZE_TIME = 1000;
/** Virtual milliseconds for what scrolling has started on a page that never stands still. */
const REVEAL_TIME = 2000;
/** Number of consecutive times that nothing must be found going on after a script has run. */
const LOOKS = 4;
/** Virtual milliseconds in which everything that needs no delay runs. */
const MOMENT = 1;
/** Maximum virtual milliseconds between two frames of a page that is slow to draw, and of one in which nothing happens. */
const SLOW_FRAME = 100;
const IDLE_FRAME = 250;
/** Maximum milliseconds to wait for fonts. */
const FONTS_TIMEOUT = 5000;
/** Milliseconds between two checks for work that depends on the real clock. */
const INTERVAL = 10;

const FONTS = '() => document.fonts.ready.then(() => true)';

/** Whether something moves, or comes from another document, without a script of this one. */
const MOVES = `() => window.length > 0 ||
  document.querySelector('video, svg :is(animate, animateMotion, animateTransform, set)') !== null`;

/**
 * Waits until a loaded page looks still. Its clock is stopped, then moves frame by frame, and each frame tells whether it
 * differs from the previous one. Returns false when `settleTime`, real or virtual, ran out first.
 */
export async function settle(
  session: Session,
  settings: {
    readonly watched: WatchedDocument;
    /** The one that has loaded. Returns early when another one replaces it. */
    readonly document: string;
    readonly clock: Clock;
    /** Milliseconds. */
    readonly settleTime: number;
    /** Returns the final window for a page that has stopped changing. */
    readonly adapt: () => Promise<Viewport>;
  },
): Promise<boolean> {
  const { watched, document, clock, settleTime, adapt } = settings;
  const { frames } = session;
  const deadline = performance.now() + settleTime;
  if (await isStatic(session, watched)) {
    const hasLoaded = await unblock(session, untilLoaded(watched, document, deadline));
    if (watched.document() !== document) return hasLoaded;
    await within(FONTS_TIMEOUT, evaluate(session, FONTS));
    await setViewport(session, await adapt());
    return hasLoaded;
  }

  const time = await startVirtualTime(session, clock);
  let isStill = await untilStill(session, time, { watched, document }, settleTime);
  if (watched.document() !== document) {
    frames.start();
    return isStill;
  }
  const { script } = await timesOf(session);
  const scrollDeadline = performance.now() + settleTime;
  let ran = script;
  const advance = async (period: number) => {
    await step(time, watched, period, { deadline: scrollDeadline, frame: 'produced' });
    const before = ran;
    ran = (await timesOf(session)).script;
    return ran !== before;
  };
  await scrollThrough(session, advance, scrollDeadline);
  // Includes what scripts have added.
  const isRevealed = await revealContent(session);
  if (isRevealed || watched.requests.areRelevant() || (await timesOf(session)).script > script) {
    const period = isStill ? settleTime : REVEAL_TIME;
    isStill = (await untilStill(session, time, { watched, document }, period)) && isStill;
  }
  const viewport = await adapt();
  frames.start();
  const isResized = await setViewport(session, viewport);
  frames.stop();
  if (isResized) {
    if (!isStill) watched.requests.abandon();
    await untilStill(session, time, { watched, document }, RESIZE_TIME);
  }
  frames.start();
  return isStill;
}

/** Whether a page that has loaded cannot change any more: no script has run in it, and nothing moves. */
async function isStatic(session: Session, { requests, willRefresh }: WatchedDocument): Promise<boolean> {
  if (
    willRefresh() ||
    session.hasAnimations ||
    requests.includeMoving() ||
    (await timesOf(session)).script > 0
  )
    return false;
  return !(await evaluate(session, MOVES));
}

/**
 * Returns for how many milliseconds the scripts of a page and its frames have run, and its thread as a whole. Scripts of
 * the service count only in the latter.
 */
async function timesOf({ protocol }: Session): Promise<{ readonly script: number; readonly task: number }> {
  const { metrics } = await protocol.send('Performance.getMetrics');
  const read = (wanted: string) => 1000 * (metrics.find(({ name }) => name === wanted)?.value ?? 0);
  return { script: read('ScriptDuration'), task: read('TaskDuration') };
}

async function untilLoaded(watched: WatchedDocument, document: string, deadline: number): Promise<boolean> {
  while (watched.document() === document && watched.requests.areRelevant()) {
    if (performance.now() >= deadline) return false;
    await sleep(INTERVAL);
  }
  return true;
}

function step(
  time: VirtualTime,
  { requests }: WatchedDocument,
  period: number,
  options: { readonly deadline: number; readonly frame?: 'produced' | 'none' },
): Promise<boolean> {
  const ignoresRequests = () => !requests.areRelevant() || requests.stalledFor() >= STALL_TIME;
  return time.advance(period, { ...options, ignoresRequests });
}

/** Moves the page's clock until nothing has changed for a while, for at most `period` virtual milliseconds. */
async function untilStill(
  session: Session,
  time: VirtualTime,
  { watched, document }: { readonly watched: WatchedDocument; readonly document: string },
  period: number,
): Promise<boolean> {
  const { requests } = watched;
  const stillTime = STILL_PART * period;
  // Only a page whose frames take longer than `SLOW_FRAME` needs more real time than time of its own.
  const busyness = busynessNow();
  const deadline = performance.now() + 2 * period * busyness;
  const outsideEnd = performance.now() + period;
  let end = time.elapsed() + period;
  /** When the page last changed, on its own clock, and since when it has not for long enough, on the real one. */
  let changed = time.elapsed();
  let quietSince: number | undefined;
  let seen = performance.now();
  let times = await timesOf(session);
  const responseTime = RESPONSE_TIME * busyness;
  let hasRun = false;
  let looks = 0;
  let ranAt = performance.now();
  let frame = FRAME_INTERVAL;
  let begun = performance.now();
  while (performance.now() < deadline) {
    // Another one is waited for after it has loaded.
    if (watched.document() !== document) return true;
    if (watched.willRefresh()) quietSince = undefined;
    else if (time.elapsed() - changed >= stillTime) quietSince ??= performance.now();
    const isQuiet = quietSince !== undefined;
    const isOver = !isQuiet && !watched.willRefresh() && time.elapsed() >= end;
    const isStreaming = (isQuiet || isOver) && (requests.haveStream() || (await session.hasWorkers()));
    // Messages of streams and workers arrive on the real clock.
    if (isOver && isStreaming && performance.now() < outsideEnd) end = time.elapsed() + period;
    else if (isOver) return time.elapsed() - changed >= stillTime / 2;
    const isIdle = isQuiet && !hasRun && (await hasNothingToDo(session));
    if (isQuiet) {
      // Without a frame, only scripts run that something outside the page has called.
      await step(time, watched, MOMENT, { deadline, frame: 'none' });
      const { script } = await timesOf(session);
      hasRun = script !== times.script;
      if (hasRun) ranAt = performance.now();
      times = { ...times, script };
    }
    if (isStreaming || requests.areRelevant()) await sleep(INTERVAL);

    const last = begun;
    begun = performance.now();
    const isTimed = isStreaming || requests.stalledFor() >= STALL_TIME;
    const passing = isTimed
      ? Math.min(SLOW_FRAME, begun - last)
      : isQuiet || requests.areRelevant()
        ? MOMENT
        : frame;
    const hasChanged = await step(time, watched, passing, { deadline });
    const [now, { script, task }] = [performance.now(), await timesOf(session)];
    if (!isQuiet && script !== times.script) ranAt = now;
    if (hasChanged || requests.areRelevant() || requests.lastActivity() > seen) {
      // It may start something that takes its time on the page's clock.
      if (isQuiet) end = time.elapsed() + period;
      changed = time.elapsed();
      quietSince = undefined;
      seen = now;
    } else if (isQuiet) {
      const quietTime = now - (quietSince ?? now);
      // A script that ran for the frame may have been called from outside, so look again.
      looks = isIdle && !hasRun ? looks + (script === times.script ? LOOKS : 1) : 0;
      const isDone =
        (looks >= LOOKS && now - ranAt >= responseTime) || (hasRun && quietTime >= RESTLESS_TIME);
      if (isDone && quietTime >= (isStreaming ? STREAM_TIME : 0)) return true;
    }
    // A page that is slow to draw gets as much real time as time of its own.
    const isIdling = !hasChanged && script === times.script && task - times.task < FRAME_LOAD;
    frame = isIdling
      ? Math.min(IDLE_FRAME, 2 * frame)
      : Math.min(SLOW_FRAME, Math.max(FRAME_INTERVAL, now - begun));
    times = { script, task };
  }
  return false;
}

/** Returns how many programs compete for each processor, from 1. */
function busynessNow(): number {
  const load = (loadavg()[0] ?? 0) / availableParallelism();
  return Math.min(MAX_BUSYNESS, Math.max(1, load));
}

/** Whether no thread of the browser has anything to do. */
async function hasNothingToDo(session: Session): Promise<boolean> {
  const processes = await session.processes();
  const before = runTime(processes);
  await sleep(IDLE_TIME);
  const load = runTime(processes) - before;
  if (Number.isNaN(load)) await sleep(RESPONSE_TIME * busynessNow());
  return !(load > IDLE_LOAD) && !areBusy(processes);
}
