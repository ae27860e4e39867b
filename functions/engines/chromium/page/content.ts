import { ELEMENTS_IN, evaluate } from './evaluate.ts';
import type { Session } from './session.ts';

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

/**
 * Returns the height of a page's content in CSS pixels: the scrollable height if the page is taller than its window,
 * otherwise the bottom of its last element, not of the window. With `all`, this includes content that only the body
 * scrolls and the page does not show, if the body is as tall as the window.
 */
export const CONTENT_HEIGHT = `(all) => {${ELEMENTS_IN}
  const root = document.documentElement;
  if (!root) return 1;
  const hides = (element) => element && getComputedStyle(element).overflowY !== 'visible';
  // Otherwise, the body's own height may be that of all its columns stacked in one.
  const inner = all && hides(root) && hides(document.body) ? document.body.scrollHeight : 0;
  const scrolled = Math.max((document.scrollingElement ?? root).scrollHeight, inner);
  if (scrolled > window.innerHeight) return scrolled;
  let bottom = root.getBoundingClientRect().bottom + window.scrollY;
  // In quirks mode the root and the body are as tall as the window, regardless of their content.
  if (document.compatMode === 'BackCompat') {
    const style = document.body && getComputedStyle(document.body);
    const sides = style ? [style.marginBottom, style.borderBottomWidth, style.paddingBottom] : [];
    const below = sides.reduce((sum, side) => sum + parseFloat(side), 0);
    bottom = 0;
    for (const child of document.body?.childNodes ?? []) {
      const range = document.createRange();
      range.selectNode(child);
      bottom = Math.max(bottom, range.getBoundingClientRect().bottom + window.scrollY + below);
    }
  }
  for (const element of document.body ? elementsIn(document.body) : []) {
    const box = element.getBoundingClientRect();
    if (box.width > 0 && box.height > 0) bottom = Math.max(bottom, box.bottom + window.scrollY);
  }
  return Math.min(scrolled, Math.max(1, bottom));
}`;

/**
 * Starts loading native lazy images, and renders content that the browser skips while it is out of view
 * (`content-visibility: auto`). Which elements are in view is only known after a frame, so this applies to all of
 * them, including those in open shadow trees. The containment stays, because removing it would change the layout.
 * Returns the number of changed elements.
 */
const REVEAL = `() => {${ELEMENTS_IN}
  const skipped = [];
  let loading = 0;
  for (const element of elementsIn(document)) {
    if (element.matches('img[loading=lazy i], iframe[loading=lazy i]')) {
      element.setAttribute('loading', 'eager');
      loading += 1;
    }
    const { contentVisibility, contain } = getComputedStyle(element);
    if (contentVisibility === 'auto') skipped.push([element, contain]);
  }
  for (const [element, contain] of skipped) {
    const own = contain.split(' ').filter((part) => part !== 'none');
    const all = /strict|content/.test(contain) ? own : new Set([...own, 'layout', 'style', 'paint']);
    element.style.setProperty('contain', [...all].join(' '), 'important');
    element.style.setProperty('content-visibility', 'visible', 'important');
  }
  return skipped.length + loading;
}`;

/** Makes the browser load and render content that is out of view. Returns whether that changed the page. */
export async function revealContent(session: Session): Promise<boolean> {
  return (await evaluate(session, REVEAL)) !== 0;
}
