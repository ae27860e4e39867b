import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '../../../../shared/time.ts';
import { expandPanes, revealContent } from '../content.ts';
import { evaluate } from '../evaluate.ts';
import { scrollThrough } from '../scroll.ts';
import { type Session, setViewport, type Viewport } from '../session.ts';
import type { WatchedDocument } from './navigation.ts';
import { watchStillness } from './stillness.ts';
import { type Clock, readMetrics, startVirtualTime, unblock } from './virtual-time.ts';

/** Fraction of the settle time without changes after which a page counts as still. */
const STILL_PART = 1 / 2;
/** The same fraction before the first scroll. It is smaller, because scrolling reveals what comes later. */
const FIRST_STILL_PART = 1 / 5;
/** Maximum number of times that a page is scrolled through, if content was added meanwhile. */
const SCROLLS = 3;
/** Time in milliseconds for a page that never stops changing, after each scroll except the first. */
const RESTLESS_PERIOD = 2000;
/** Minimum milliseconds, real or virtual, for a page to react to its final size, even if it never stops changing. */
const RESIZE_TIME = 1000;
/** Maximum milliseconds to wait for fonts. */
const FONTS_TIMEOUT = 5000;
/** Interval between two checks for pending loads, in milliseconds. */
const INTERVAL = 10;

const FONTS = '() => document.fonts.ready.then(() => true)';

/** Whether the page can change without running script: frames, videos or SVG animations. */
const HAS_MOTION = `() => window.length > 0 ||
  document.querySelector('video, svg :is(animate, animateMotion, animateTransform, set)') !== null`;

/**
 * Waits until a loaded page looks still. Its clock is stopped and then advanced frame by frame, and each frame tells
 * whether it differs from the previous one. Returns false if `settleTime`, real or virtual, ran out first.
 */
export async function settle(
  session: Session,
  settings: {
    readonly watched: WatchedDocument;
    /** The loader ID of the loaded document. Returns early when another one replaces it. */
    readonly documentId: string;
    readonly clock: Clock;
    /** Maximum milliseconds to wait. */
    readonly settleTime: number;
    /** Whether the result shows all content of a page, even of one that scrolls a pane. */
    readonly isWhole: boolean;
    /** Returns the final window for a page that has stopped changing. */
    readonly adapt: () => Promise<Viewport>;
  },
): Promise<boolean> {
  const { watched, documentId, clock, settleTime, isWhole, adapt } = settings;
  const { frames } = session;
  const isCurrent = () => watched.documentId() === documentId;
  if (await isStatic(session, watched)) {
    const hasLoaded = await unblock(
      session,
      untilLoaded(watched, documentId, performance.now() + settleTime),
    );
    if (!isCurrent()) return hasLoaded;
    await within(FONTS_TIMEOUT, evaluate(session, FONTS));
    if (isWhole) await expandPanes(session);
    await setViewport(session, await adapt());
    return hasLoaded;
  }

  const time = await startVirtualTime(session, clock);
  const page = await watchStillness(session, time, watched, documentId);
  const stillTime = STILL_PART * settleTime;
  const first = { period: settleTime / 2, stillTime: FIRST_STILL_PART * settleTime, withOthers: false };
  let isStill = await page.untilStill(first);
  for (let count = 0; count < SCROLLS && isCurrent(); count++) {
    const hasScrolled = await scrollThrough(session, page, await page.startLimit(settleTime));
    // Includes elements that scripts have added.
    const isRevealed = await revealContent(session);
    if (isRevealed) page.noteChange();
    if (count > 0 && !hasScrolled && !isRevealed) break;
    const restlessPeriod = count === 0 ? settleTime - first.period : RESTLESS_PERIOD;
    const period = isStill ? settleTime : restlessPeriod;
    isStill = await page.untilStill({ period, stillTime, withOthers: true });
  }
  if (!isCurrent()) {
    frames.start();
    return isStill;
  }
  const isExpanded = isWhole && (await expandPanes(session));
  const viewport = await adapt();
  frames.start();
  const isResized = await setViewport(session, viewport);
  frames.stop();
  if (isExpanded || isResized) {
    if (!isStill) watched.requests.abandon();
    page.noteChange();
    await page.untilStill({ period: RESIZE_TIME, stillTime: STILL_PART * RESIZE_TIME, withOthers: true });
  }
  frames.start();
  return isStill;
}

/** Whether a loaded page cannot change any more, because no script has run in it and nothing moves. */
async function isStatic(session: Session, { requests, willRefresh }: WatchedDocument): Promise<boolean> {
  if (willRefresh() || session.hasAnimations || requests.includeMoving()) return false;
  const [{ script }, hasMotion] = await Promise.all([readMetrics(session), evaluate(session, HAS_MOTION)]);
  return script === 0 && !hasMotion;
}

async function untilLoaded(watched: WatchedDocument, documentId: string, deadline: number): Promise<boolean> {
  while (watched.documentId() === documentId && watched.requests.areRelevant()) {
    if (performance.now() >= deadline) return false;
    await sleep(INTERVAL);
  }
  return true;
}
