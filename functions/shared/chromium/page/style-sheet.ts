import { evaluate } from './evaluate.ts';
import type { Session } from './session.ts';

/** Unlike a `<style>` element, an adopted style sheet is allowed under every content security policy. */
const ADD = `(text) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}`;

/** Adds CSS after the page's own style sheets. */
export async function addStyleSheet(session: Session, text: string | undefined): Promise<void> {
  if (text !== undefined) await evaluate(session, ADD, text);
}
