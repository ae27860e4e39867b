import { evaluate } from '../../engines/chromium/page/evaluate.ts';
import type { Session, Viewport } from '../../engines/chromium/page/session.ts';
import { setViewport } from '../../engines/chromium/page/viewport.ts';

/** CSS pixels by which the window grows to show what depends on its height. */
const PROBE = 100;

const REMEMBER = `() => {
  const boxOf = (element) => {
    const { top, height } = element.getBoundingClientRect();
    return [height, top - (element.parentElement?.getBoundingClientRect().top ?? 0)].join();
  };
  const stylesOf = (element) => new Map([...element.computedStyleMap()].map(([name, values]) => [name, values.join()]));
  const boxes = [...document.querySelectorAll('html, html *')].map((element) => [element, boxOf(element)]);
  globalThis.dependent = { boxes, boxOf, stylesOf, found: [] };
}`;

const FIND = `() => {
  const { boxes, boxOf, stylesOf, found } = dependent;
  for (const [element, box] of boxes) if (boxOf(element) !== box) found.push([element, stylesOf(element)]);
}`;

const PIN = `() => {
  const { stylesOf, found } = dependent;
  const changes = found.flatMap(([element, other]) =>
    [...stylesOf(element)].filter(([name, value]) => other.get(name) !== value).map((style) => [element, ...style]));
  for (const [element, name, value] of changes) element.style.setProperty(name, value, 'important');
}`;

/**
 * Keeps lengths as they are that depend on the height of the window, such as `100vh`. On paper as tall as the content they would
 * grow with it.
 */
export async function pinToWindow(session: Session, window: Viewport): Promise<void> {
  await evaluate(session, REMEMBER);
  await setViewport(session, { ...window, height: window.height + PROBE });
  await evaluate(session, FIND);
  await setViewport(session, window);
  await evaluate(session, PIN);
}
