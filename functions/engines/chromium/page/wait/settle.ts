import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '../../../../shared/timeout.ts';
import type { PageOptions } from '../../page-options.ts';
import { revealContent } from '../content/reveal.ts';
import { evaluate, pageNumber } from '../evaluate.ts';
import { FRAME_INTERVAL } from '../frames.ts';
import type { Session, Viewport } from '../session.ts';
import { setViewport } from '../viewport.ts';
import type { WatchedDocument } from './navigation.ts';
import { type Pending, readPending } from './pending.ts';
import { type Clock, startVirtualTime, type VirtualTime } from './virtual-time.ts';

/** Maximum height in CSS pixels. What lies below is not brought into view. */
const TALLEST = 60_000;
/** Virtual milliseconds to which a pause is extended, so that short timers in a row pass together. */
const STEP = 50;
/** Virtual milliseconds that are shorter than any delay. When they have passed, everything that needs no delay has run. */
const MOMENT = 1;
/**
 * Milliseconds, real or virtual, that a page always has to react to its final size. Even one that never stands still is not
 * captured as it was laid out for the stretched window.
 */
const RESIZE_TIME = 1000;
/** Number of consecutive checks that must find nothing pending. */
const LOOKS = 2;
/** Frames between two checks for pending work. */
const FRAMES = 8;
/** Maximum virtual milliseconds per frame. A page that is slow to draw gets fewer frames. */
const LONGEST_FRAME = 100;
/** Virtual milliseconds that pass in each real one of a slow frame, which shortens the wait for an endless animation. */
const FAST_FORWARD = 2;
/** Maximum milliseconds to wait for fonts. */
const FONTS_TIMEOUT = 5000;
/** Milliseconds that a script may need to get a response that the network has delivered. */
const RESPONSE_TIME = 60;
/** Milliseconds between two checks for work that depends on the real clock. */
const INTERVAL = 10;

/** Ends SMIL animations. Returns the page's height, and the number of elements that may change after the page has loaded. */
const MEASURE = `(svgTime) => {
  for (const element of document.querySelectorAll('animate, animateTransform, animateMotion, set')) {
    const svg = element.ownerSVGElement;
    if (svg && !svg.ownerSVGElement && svg.getCurrentTime() < svgTime) svg.setCurrentTime(svgTime);
  }
  const height = document.documentElement?.scrollHeight ?? 0;
  return [height, document.scripts.length + document.querySelectorAll('iframe, frame, object, video').length];
}`;

/** Waits for fonts, then finishes finite animations. Infinite ones stay where they are. */
const FINISH = `() => document.fonts.ready.then(() => {
  for (const animation of document.getAnimations()) {
    if (Number.isFinite(animation.effect?.getComputedTiming().endTime)) animation.finish();
  }
  return true;
})`;

/**
 * Waits until a loaded page has stopped changing: lazy images, requests, timers, frame callbacks, fonts and
 * finite animations are done. Time passes virtually unless something real is pending, and a static page is
 * done immediately. Returns false when `settleTime`, real or virtual, ran out first. A page that depends on
 * its size may take a second longer.
 */
export async function settle(
  session: Session,
  settings: {
    readonly options: PageOptions;
    readonly viewport: Viewport;
    readonly watched: WatchedDocument;
    readonly clock: Clock;
    /** Milliseconds. */
    readonly settleTime: number;
    /** Returns the final window for a page that has stopped changing. */
    readonly adapt?: (() => Promise<Viewport>) | undefined;
  },
): Promise<boolean> {
  const { options, viewport, watched, clock, settleTime, adapt = async () => viewport } = settings;
  const { frames } = session;
  const finish = () => within(FONTS_TIMEOUT, evaluate(session, FINISH));
  const deadline = performance.now() + settleTime;
  const measured = await evaluate(session, MEASURE, settleTime / 1000);
  const [height, changing] = Array.isArray(measured) ? measured.map(Number) : [];
  if (!options.javascript || !changing) {
    const loaded = await untilLoaded(watched, deadline);
    await finish();
    if (await setViewport(session, await adapt())) await finish();
    return loaded;
  }

  let stretches = false;
  /**
   * Brings everything into view, so that scripts load and show it. Skipped if no script of the page can
   * notice the resize.
   */
  const stretch = async (tall: number) => {
    stretches = tall > viewport.height && mayNotice(await readPending(session));
    if (stretches) await setViewport(session, { ...viewport, height: tall });
    return stretches;
  };
  await stretch(pageNumber(height, { min: 1, max: TALLEST }));
  const started = performance.now();
  const time = await startVirtualTime(session, clock);
  const end = time.elapsed() + settleTime;
  let still = await untilStill(session, time, { watched, end, deadline, started });
  frames.start();
  // Scripts that ran late may observe the page only now.
  if (!stretches && (await stretch(await contentHeight(session)))) {
    frames.stop();
    still = await untilStill(session, time, { watched, end, deadline, started });
    frames.start();
  }
  /** Scripts may lay out the page again, for the size that it is captured in. */
  const react = async () => {
    if (!still) watched.requests.abandon();
    frames.stop();
    await untilStill(session, time, {
      watched,
      end: Math.max(end, time.elapsed() + RESIZE_TIME),
      deadline: Math.max(deadline, performance.now() + RESIZE_TIME),
      // Workers are waited for once.
      started,
    });
    frames.start();
  };
  if (stretches) await setViewport(session, viewport);
  // Includes what scripts have added.
  const revealed = await revealContent(session);
  if (stretches || revealed) await react();
  await finish();
  if (await setViewport(session, await adapt())) {
    await react();
    await finish();
  }
  return still;
}

function mayNotice({ observes, frame, next }: Pending): boolean {
  return observes || frame || next !== undefined;
}

async function contentHeight(session: Session): Promise<number> {
  const height = await evaluate(session, '() => document.documentElement?.scrollHeight');
  return pageNumber(height, { min: 1, max: TALLEST });
}

/** Without scripts, nothing can begin after the last request has ended. */
async function untilLoaded({ requests }: WatchedDocument, deadline: number): Promise<boolean> {
  while (requests.areRelevant()) {
    if (performance.now() >= deadline) return false;
    await sleep(INTERVAL);
  }
  return true;
}

async function untilStill(
  session: Session,
  time: VirtualTime,
  {
    watched: { requests },
    end,
    deadline,
    started,
  }: {
    readonly watched: WatchedDocument;
    /** Virtual time at which the wait ends. */
    readonly end: number;
    /** Real time at which the wait ends. */
    readonly deadline: number;
    /** When the wait for background work began. */
    readonly started: number;
  },
): Promise<boolean> {
  const ignoresRequests = () => !requests.areRelevant();
  const isOver = () => time.elapsed() >= end || performance.now() >= deadline;
  const advance = (step: number) =>
    time.advance(Math.min(step, end - time.elapsed()), { ignoresRequests, deadline });
  let frame = FRAME_INTERVAL;
  let quiet = 0;
  let elements = 0;

  await advance(MOMENT);
  while (!isOver()) {
    const pending = await readPending(session);
    quiet += 1;
    // A page that is still being built, such as a book page by page, needs all the time that there is.
    const speed = pending.elements > elements ? 1 : FAST_FORWARD;
    elements = pending.elements;
    if (pending.frame) {
      for (let count = 0; count < FRAMES && !isOver(); count++) {
        const begun = performance.now();
        await advance(frame);
        frame = Math.min(LONGEST_FRAME, Math.max(FRAME_INTERVAL, speed * (performance.now() - begun)));
      }
    } else if (pending.next !== undefined && pending.next <= end - time.elapsed()) {
      await advance(Math.max(STEP, pending.next));
    } else if (performance.now() < started + pending.background) {
      await sleep(INTERVAL);
      // Workers share the page's clock. What a worker draws on a canvas appears when a frame is drawn.
      await session.frames.draw(advance(INTERVAL));
    } else if (requests.areRelevant()) {
      await advance(MOMENT);
    } else if (requests.sinceResponse() < RESPONSE_TIME) {
      await sleep(INTERVAL);
      await advance(MOMENT);
    } else if (quiet < LOOKS) {
      // The last frame may have notified observers that have not reacted yet.
      await advance(MOMENT);
      continue;
    } else {
      return true;
    }
    quiet = 0;
  }
  return false;
}
