import { ELEMENTS_IN, evaluate } from './evaluate.ts';
import { FRAME_INTERVAL } from './frames.ts';
import type { Session } from './session.ts';
import type { Stillness } from './wait/stillness.ts';
import type { TimeLimit } from './wait/virtual-time.ts';

/**
 * Fraction of the window per step, so that anything up to 0.65 windows tall is fully visible once. `FAST_STEP`
 * applies after `SLOW_PART` of the time.
 */
const STEP = 0.35;
const FAST_STEP = 0.65;
const SLOW_PART = 1 / 3;
/** Number of frames after each step: one for listeners and observers, one for their changes. */
const FRAMES = 2;
/**
 * Pause after a step for scripts to react, in milliseconds on the page's clock, because many listeners are throttled.
 */
const PAUSE = 300;
/**
 * Maximum growth of a page in CSS pixels while it is scrolled, so that an endless page always ends at the same place.
 */
const GROWTH = 10_000;
/** Maximum number of steps. */
const STEPS = 250;

/**
 * Scrolls the next scrollable that has not reached its end: the page first, then elements inside it, including those
 * in open shadow trees. Returns whether there was one. Positions are counted, not read, because a page may snap to
 * others. Elements with hidden overflow are not scrolled, because a reader could not scroll them either.
 */
const SCROLL = `(part, growth) => {${ELEMENTS_IN}
  const { scrollers, moments } = globalThis.reader ??= { scrollers: new Map(), moments: new Map() };
  const roots = [document, ...[...elementsIn(document)].map(({ shadowRoot }) => shadowRoot).filter((root) => root instanceof ShadowRoot)];
  for (const animation of roots.flatMap((each) => each.getAnimations())) {
    const { timeline, effect } = animation;
    if (!(timeline instanceof ScrollTimeline) || animation.playState === 'paused' || !effect.target) continue;
    const { top, bottom } = effect.target.getBoundingClientRect();
    const distance = Math.abs((top + bottom - innerHeight) / 2);
    if (distance < (moments.get(animation)?.distance ?? Infinity)) moments.set(animation, { distance, time: animation.currentTime });
  }
  const root = document.scrollingElement;
  const scrolls = (element) => /auto|scroll/.test(getComputedStyle(element).overflowY);
  const contains = (outer, inner) => {
    for (let node = inner; node; node = node.parentNode ?? node.host) if (node === outer) return true;
    return false;
  };
  const add = (element) => {
    if (scrollers.has(element)) return;
    scrollers.set(element, { start: element.scrollTop, next: element.scrollTop, limit: element.scrollHeight + growth });
  };
  const show = (inner) => {
    for (const outer of scrollers.keys()) {
      if (outer === inner || !contains(outer, inner)) continue;
      const top = outer === root ? 0 : outer.getBoundingClientRect().top;
      outer.scrollBy({ top: inner.getBoundingClientRect().top - top, behavior: 'instant' });
    }
  };
  const advance = () => {
    for (const [element, scroller] of scrollers) {
      const end = Math.min(element.scrollHeight, scroller.limit) - element.clientHeight;
      if (scroller.next >= end || !element.isConnected) continue;
      if (scroller.next === scroller.start) show(element);
      scroller.next = Math.min(end, scroller.next + Math.max(1, part * element.clientHeight));
      element.scrollTo({ top: scroller.next, behavior: 'instant' });
      return true;
    }
    return false;
  };
  const hides = (element) => element && /hidden|clip/.test(getComputedStyle(element).overflowY);
  const isHidden = hides(document.documentElement) || (hides(document.body) && !scrolls(document.documentElement));
  if (root && !isHidden) add(root);
  if (advance()) return true;
  // The body scrolls by itself only if the root does not leave scrolling to the window.
  const top = document.documentElement;
  const isSeparate = top && getComputedStyle(top).overflowY !== 'visible';
  const isScroller = (element) =>
    element !== root && element.scrollHeight > element.clientHeight + 1 && element.clientHeight >= innerHeight / 4 && scrolls(element);
  if (isSeparate && document.body && isScroller(document.body)) add(document.body);
  for (const element of document.body ? elementsIn(document.body) : []) if (isScroller(element)) add(element);
  return advance();
}`;

/**
 * Scrolls everything back to its original position. The next run continues with the content added since. Animations
 * that depend on the scroll position stay as they were when their element was in the middle of the window.
 */
const SCROLL_BACK = `() => {
  for (const [animation, { time }] of globalThis.reader.moments) {
    if (time === null) continue;
    animation.pause();
    animation.currentTime = time;
  }
  globalThis.reader.moments.clear();
  for (const [element, { start }] of [...globalThis.reader.scrollers].reverse()) {
    element.scrollTo({ top: start, behavior: 'instant' });
  }
}`;

/**
 * Scrolls through a page as a reader does, so that scripts load and show what they reveal on the way, then scrolls
 * back. Gives up when `limit` is over. Returns whether anything was scrolled that had not been scrolled through
 * before.
 */
export async function scrollThrough(session: Session, page: Stillness, limit: TimeLimit): Promise<boolean> {
  const render = async () => {
    for (let frame = 0; frame < FRAMES; frame++) await page.pass(FRAME_INTERVAL, limit);
    if (await page.haveScriptsRun()) await page.pass(PAUSE, limit);
  };
  let steps = 0;
  for (; steps < STEPS && !(await limit.isOver()); steps++) {
    const step = (await limit.isOver(SLOW_PART)) ? FAST_STEP : STEP;
    if (!(await evaluate(session, SCROLL, step, GROWTH))) break;
    await render();
  }
  if (steps === 0) return false;
  await evaluate(session, SCROLL_BACK);
  await render();
  return true;
}
