import { ELEMENTS_IN } from '../../engines/chromium/page/content/elements.ts';
import { evaluate } from '../../engines/chromium/page/evaluate.ts';
import type { Session } from '../../engines/chromium/page/session.ts';
import { addStyleSheet } from '../../engines/chromium/page/style-sheet.ts';

/** Whether an element with text has a filter, which Chromium prints as a picture. */
const HAS_FILTERED_TEXT = `() => {${ELEMENTS_IN}
  for (const element of elementsIn(document)) {
    if (getComputedStyle(element).filter !== 'none' && element.textContent.trim() !== '') return true;
  }
  return false;
}`;

/**
 * Leaves only the text in elements with a filter, almost invisible. A completely transparent text would not be printed. The layout
 * stays, because `will-change` makes an element contain others as a filter does.
 */
const SHOW_TEXT = `() => {${ELEMENTS_IN}
  const elements = [...elementsIn(document)];
  const isFiltered = (element) => {
    for (let node = element; node; node = parentOf(node)) if (filters.has(node)) return true;
    return false;
  };
  const filters = new Set(elements.filter((element) => getComputedStyle(element).filter !== 'none'));
  const texts = elements.filter((element) =>
    [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== '') &&
    getComputedStyle(element).visibility === 'visible' && isFiltered(element));
  const set = (element, styles) => {
    for (const [name, value] of Object.entries(styles)) element.style?.setProperty(name, value, 'important');
  };
  for (const element of filters) set(element, { filter: 'none', 'will-change': 'filter' });
  const color = 'rgba(0, 0, 0, 0.002)';
  for (const element of texts) {
    set(element, {
      visibility: 'visible', transition: 'none', color, fill: color, background: 'none', 'border-color': 'transparent',
      '-webkit-text-fill-color': color, '-webkit-text-stroke-color': 'transparent', stroke: 'none',
      'text-shadow': 'none', 'box-shadow': 'none', outline: 'none', 'text-decoration-color': 'transparent',
      'list-style-type': 'none',
    });
  }
}`;

/** Hides everything that the element's own style does not show. */
const HIDDEN = '*, ::before, ::after { visibility: hidden !important; transition: none !important }';

/** Whether the page has text that Chromium prints as a picture. */
export async function hasFilteredText(session: Session): Promise<boolean> {
  return (await evaluate(session, HAS_FILTERED_TEXT)) === true;
}

/** Leaves only that text on the page, invisible, to be printed over the pictures. */
export async function showFilteredText(session: Session): Promise<void> {
  await evaluate(session, SHOW_TEXT);
  await addStyleSheet(session, HIDDEN);
}
