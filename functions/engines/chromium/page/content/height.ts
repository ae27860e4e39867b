import { ELEMENTS_IN } from './elements.ts';

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
