import { evaluate } from './evaluate.ts';
import type { Session } from './session.ts';

/** An adopted sheet: unlike an element it is not forbidden by the page's content security policy. */
const ADD = `(text) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}`;

/** Adds CSS to the page, after its own. */
export async function addStyleSheet(session: Session, text: string | undefined): Promise<void> {
  if (text !== undefined) await evaluate(session, ADD, text);
}
