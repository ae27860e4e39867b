import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '../../timeout.ts';
import type { PageOptions } from '../page-options.ts';
import { evaluate, pageNumber } from './evaluate.ts';
import type { WatchedDocument } from './navigation.ts';
import type { Session } from './session.ts';
import { hasTimers } from './timers.ts';
import { setViewport, type Viewport } from './viewport.ts';

/** Milliseconds that requests under way are waited for after load. */
const QUIET_TIME = 5000;
/** Milliseconds between two looks, about a frame; quiet is what two looks in a row find so. */
const LOOK = 15;
/** CSS pixels; beyond it what waits to be seen stays as it is. */
const TALLEST = 16_384;

/** Native lazy images are asked for at once; answers how tall the page is, whether scripts could load more, the time. */
const WAKE = `() => {
  for (const element of document.querySelectorAll('[loading=lazy]')) element.loading = 'eager';
  const height = document.documentElement?.scrollHeight ?? 0;
  return [height, document.scripts.length, performance.now()];
}`;

/** What watches for being seen is told after a frame was drawn. */
const FRAMES =
  '() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))';
const FRAMES_TIME = 500;

/** Waits for fonts, then shows what moves to an end as it ends; what moves for ever stays where it is. */
const FINISH = `() => document.fonts.ready.then(() => {
  for (const animation of document.getAnimations()) {
    if (Number.isFinite(animation.effect?.getComputedTiming().endTime)) animation.finish();
  }
  return true;
})`;

/**
 * Waits until a loaded page looks as it is meant to: lazy images, what scripts do within half a second, quiet network,
 * fonts, the end of what moves. All of it is watched and bounded; a page that is done is done at once.
 */
export async function settle(
  session: Session,
  { options, viewport, watched }: { options: PageOptions; viewport: Viewport; watched: WatchedDocument },
): Promise<void> {
  const { frames } = session;
  const awake = await evaluate(session, WAKE);
  const [height, scripts, now] = Array.isArray(awake) ? awake.map(Number) : [];
  const start = options.javascript && scripts ? (now ?? 0) : undefined;
  const tall = pageNumber(height, { min: 1, max: TALLEST });
  const stretch = start !== undefined && tall > viewport.height;
  if (stretch) {
    // What scripts load as it comes into view is all in view now.
    await setViewport(session, { ...viewport, height: tall });
    await within(FRAMES_TIME, frames.expedite(evaluate(session, FRAMES)));
  }
  const quiet = untilQuiet(session, watched, start);
  // A canvas that a worker fills is filled as frames are drawn.
  await (start === undefined ? quiet : frames.draw(quiet));
  if (stretch) await setViewport(session, viewport);
  await within(QUIET_TIME, evaluate(session, FINISH));
}

/** Waits until no request is under way and no timer is soon due. */
async function untilQuiet(
  session: Session,
  watched: WatchedDocument,
  start: number | undefined,
): Promise<void> {
  let quiet = 0;
  for (const end = Date.now() + QUIET_TIME; Date.now() < end; await sleep(LOOK)) {
    const busy = watched.busy() > 0 || (start !== undefined && (await hasTimers(session, start)));
    quiet = busy ? 0 : quiet + 1;
    // Without scripts nothing can begin after the last request has ended.
    if (quiet >= (start === undefined ? 1 : 2)) return;
  }
}
