import { evaluate } from '../evaluate.ts';
import type { Session } from '../session.ts';
import { ELEMENTS_IN } from './elements.ts';

/**
 * Makes the largest scrolling pane of a document that cannot scroll itself as tall as its content, and everything around it taller by
 * the same amount. Repeats that for panes within, and returns whether there was one. Content that was added to an endless pane
 * while it was scrolled is cut where scrolling ended.
 */
const EXPAND = `() => {${ELEMENTS_IN}
  const { body, documentElement: root } = document;
  if (!body) return false;
  const styleOf = (element) => getComputedStyle(element);
  const isSeparate = styleOf(root).overflowY !== 'visible';
  const isPane = (element) => element !== root && (element !== body || isSeparate) &&
    element.scrollHeight > element.clientHeight + 1 && /auto|scroll/.test(styleOf(element).overflowY) &&
    element.clientWidth * element.clientHeight >= innerWidth * innerHeight / 3 && !element.matches('textarea');
  const hides = (element) => /hidden|clip/.test(styleOf(element).overflowY);
  const isLocked = hides(root) || hides(body);
  // A page of its own height may contain a box that scrolls. In an application, something fills the window.
  const fills = (element) => {
    for (let node = element; node && node !== body && node !== root; node = parentOf(node)) {
      const { bottom, height } = node.getBoundingClientRect();
      const isFixed = styleOf(node).position === 'fixed' && height >= innerHeight / 2;
      if (node.clientHeight >= innerHeight - 1 || (isFixed && bottom >= innerHeight - 1)) return true;
    }
    return element === body;
  };
  const largest = () => [body, ...elementsIn(body)].filter((element) => isPane(element) && (isLocked || fills(element)))
    .sort((one, other) => other.clientWidth * other.clientHeight - one.clientWidth * one.clientHeight)[0];
  const expand = (pane) => {
    const limit = globalThis.reader?.scrollers.get(pane)?.limit ?? Infinity;
    const added = Math.min(pane.scrollHeight, limit) - pane.clientHeight;
    const around = [];
    for (let element = pane; element; element = parentOf(element)) {
      if (element.style && styleOf(element).display !== 'inline') around.push([element, parseFloat(styleOf(element).height), styleOf(element)]);
    }
    const changes = around.map(([element, height, { position, top }]) => [element, {
      height: height + added + 'px', 'min-height': '0', 'max-height': 'none', transition: 'none',
      overflow: element === pane && pane.scrollHeight > limit ? 'hidden' : 'visible',
      ...(position === 'fixed' || position === 'absolute' ? { position: 'absolute', top, bottom: 'auto' } : {}),
    }]);
    for (const [element, styles] of changes) {
      for (const [name, value] of Object.entries(styles)) element.style.setProperty(name, value, 'important');
    }
  };
  if ((document.scrollingElement ?? root).scrollHeight > innerHeight + 1) return false;
  let hasExpanded = false;
  for (let count = 0; count < 3; count++) {
    const pane = largest();
    if (!pane) break;
    pane.scrollTop = 0;
    expand(pane);
    hasExpanded = true;
  }
  return hasExpanded;
}`;

/** Shows the whole content of an application that scrolls a pane instead of the document. Returns whether that changed the page. */
export async function expandPanes(session: Session): Promise<boolean> {
  return (await evaluate(session, EXPAND)) === true;
}
