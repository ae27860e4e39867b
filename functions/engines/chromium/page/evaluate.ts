import type { Protocol } from 'puppeteer-core';
import { ConversionError } from '../../../shared/errors.ts';
import type { Session } from './session.ts';

/**
 * Runs a function in the page, isolated from the page's own scripts, which cannot change what the DOM returns to it.
 * The function is text because it does not run in this process. Check its result, because the page influences it.
 */
export async function evaluate(
  session: Session,
  declaration: string,
  ...values: readonly (string | number | boolean)[]
): Promise<unknown> {
  // The context no longer exists if the page has just navigated.
  const known = session.world.then((world) => call(session, world, declaration, values));
  const answer = await known.catch(() => undefined);
  if (answer) return read(answer);
  session.world = openWorld(session.protocol, session.frameId);
  return read(await call(session, await session.world, declaration, values));
}

/** Opens a script context in the current document. */
export function openWorld(protocol: Session['protocol'], frameId: string): Promise<number> {
  const world = protocol
    .send('Page.createIsolatedWorld', { frameId, worldName: 'docmill' })
    .then(({ executionContextId }) => executionContextId);
  // A failure is reported to those who use it.
  world.catch(() => {});
  return world;
}

function call(
  { protocol }: Session,
  executionContextId: number,
  functionDeclaration: string,
  values: readonly (string | number | boolean)[],
) {
  return protocol.send('Runtime.callFunctionOn', {
    functionDeclaration,
    executionContextId,
    arguments: values.map((value) => ({ value })),
    returnByValue: true,
    awaitPromise: true,
  });
}

function read({ result, exceptionDetails }: Protocol.Runtime.CallFunctionOnResponse): unknown {
  if (exceptionDetails) throw pageChangedError(new Error(exceptionDetails.exception?.description));
  return result.value;
}

/**
 * Evaluates an expression in the context of the page's own scripts. An expression that throws counts as not yet true.
 */
export async function isTrueInPage({ protocol }: Session, expression: string): Promise<boolean> {
  const answer = await protocol.send('Runtime.evaluate', {
    expression: `Boolean((${expression}\n))`,
    returnByValue: true,
    timeout: 1000,
  });
  return answer.result.value === true;
}

/** Converts a value from the page, which may be anything, to an integer within bounds. */
export function boundedInteger(value: unknown, { min, max }: { min: number; max: number }): number {
  const number = typeof value === 'number' && Number.isFinite(value) ? Math.ceil(value) : min;
  return Math.min(max, Math.max(min, number));
}

/** Returns the error for a page that navigated or removed its document during a command. */
export function pageChangedError(cause: unknown): ConversionError {
  return new ConversionError('CONVERSION_FAILED', 'The page kept changing and could not be converted.', {
    cause,
  });
}

/**
 * Declares functions that cross the borders of open shadow trees: `elementsIn` yields all elements in a tree, and
 * `parentOf` returns the parent of an element, or the host of its tree.
 */
export const ELEMENTS_IN = `
  const elementsIn = function* (root) {
    for (const element of root.querySelectorAll('*')) {
      yield element;
      // A form may have a field of that name.
      if (element.shadowRoot instanceof ShadowRoot) yield* elementsIn(element.shadowRoot);
    }
  };
  const parentOf = (element) => element.parentElement ?? element.getRootNode().host;`;

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
