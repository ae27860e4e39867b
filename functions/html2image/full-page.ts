import { CONTENT_HEIGHT } from '../engines/chromium/page/content/height.ts';
import { evaluate, pageNumber } from '../engines/chromium/page/evaluate.ts';
import type { Session } from '../engines/chromium/page/session.ts';

/** CSS pixels; a hostile page may claim any height. */
const TALLEST = 100_000_000;
const WIDEST = 16_384;

/** Returns the width of the content, which is 1 if the page hides its overflow. */
const CONTENT_WIDTH = `() => {
  const root = document.documentElement;
  if (!root) return 1;
  const cut = [root, document.body].some(
    (element) => element && /hidden|clip/.test(getComputedStyle(element).overflowX),
  );
  return cut ? 1 : root.scrollWidth;
}`;

/** Moves elements that are fixed to the bottom of the window to the bottom of the image. */
const LOWER = `(distance) => {
  for (const element of document.querySelectorAll('body *')) {
    if (getComputedStyle(element).position !== 'fixed') continue;
    const style = element.computedStyleMap();
    const isAuto = (side) => style.get(side)?.toString() === 'auto';
    if (isAuto('bottom') || !isAuto('top')) continue;
    element.style.setProperty('transition', 'none', 'important');
    element.style.setProperty('translate', '0 ' + distance + 'px', 'important');
  }
}`;

/** Returns the width of the page's content in CSS pixels. */
export async function contentWidth(session: Session): Promise<number> {
  return pageNumber(await evaluate(session, CONTENT_WIDTH), { min: 1, max: WIDEST });
}

/** Returns the height of the whole page in CSS pixels, once everything is where the image shows it. */
export async function layOutFullPage(session: Session, windowHeight: number): Promise<number> {
  const height = pageNumber(await evaluate(session, CONTENT_HEIGHT, false), { min: 1, max: TALLEST });
  if (height > windowHeight) await evaluate(session, LOWER, height - windowHeight);
  return height;
}
