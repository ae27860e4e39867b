import { ELEMENTS_IN } from './content/elements.ts';
import { evaluate } from './evaluate.ts';
import type { Session } from './session.ts';

/** Adds an adopted style sheet, which every content security policy allows, unlike a `<style>` element. */
const ADD = `(text) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}`;

/**
 * Enlarges small text. Reads all sizes before it changes any, because sizes in `em` depend on those of the parents.
 */
const ENLARGE = `(smallest) => {${ELEMENTS_IN}
  const sizes = new Map();
  for (const element of elementsIn(document)) {
    if (element.style) sizes.set(element, parseFloat(getComputedStyle(element).fontSize));
  }
  for (const [element, size] of sizes) {
    const isBelow = sizes.get(parentOf(element)) < smallest;
    if (size > 0 && (size < smallest || isBelow)) {
      element.style.setProperty('font-size', Math.max(size, smallest) + 'px', 'important');
    }
  }
}`;

/** Adds CSS after the page's own style sheets. */
export async function addStyleSheet(session: Session, text: string | undefined): Promise<void> {
  if (text !== undefined) await evaluate(session, ADD, text);
}

/** Enlarges text of a loaded page that is smaller than `smallest` CSS pixels. */
export async function enlargeSmallText(session: Session, smallest: number | undefined): Promise<void> {
  if (smallest !== undefined) await evaluate(session, ENLARGE, smallest);
}
