import { setTimeout as sleep } from 'node:timers/promises';
import { ConversionError } from '../../../../shared/errors.ts';
import { quote } from '../../../../shared/quote.ts';
import type { PageOptions } from '../../page-options.ts';
import { evaluate, isTrueInPage } from '../evaluate.ts';
import type { Session } from '../session.ts';
import type { WatchedDocument } from './navigation.ts';

/** Timeout of each condition, and interval between two checks, in milliseconds. */
const TIMEOUT = 30_000;
const INTERVAL = 20;
/** How long the network must be quiet to count as idle, in milliseconds. */
const IDLE_TIME = 500;

/**
 * Waits until the page meets the conditions in the options.
 * @throws ConversionError `SOURCE_TIMEOUT` if a condition is not met in time, `BAD_PARAMETER` for an invalid selector
 * or expression.
 */
export async function waitForConditions(
  session: Session,
  watched: WatchedDocument,
  options: PageOptions,
): Promise<void> {
  const { waitUntil, javascriptDelay, windowStatus, waitForSelector, waitForExpression } = options;
  if (waitForSelector !== undefined) await checkSelector(session, '--wait-for-selector', waitForSelector);
  if (waitForExpression !== undefined) await checkExpression(session, waitForExpression);
  if (waitUntil === 'networkidle0') await untilIdle(session, watched, 0);
  if (waitUntil === 'networkidle2') await untilIdle(session, watched, 2);
  if (javascriptDelay) await sleep(javascriptDelay);
  if (windowStatus !== undefined) {
    await until(session, '--window-status', () =>
      isTrueInPage(session, `window.status === ${JSON.stringify(windowStatus)}`),
    );
  }
  if (waitForSelector !== undefined) {
    await until(session, '--wait-for-selector', () =>
      isTrueInPage(session, `document.querySelector(${JSON.stringify(waitForSelector)})`),
    );
  }
  if (waitForExpression !== undefined) {
    await until(session, '--wait-for-expression', () => isTrueInPage(session, waitForExpression));
  }
}

/** @throws ConversionError `BAD_PARAMETER` if a text is not a valid CSS selector. */
export async function checkSelector(session: Session, option: string, selector: string): Promise<void> {
  const isValid = `(text) => {
    try {
      document.createDocumentFragment().querySelector(text);
      return true;
    } catch {
      return false;
    }
  }`;
  if (await evaluate(session, isValid, selector)) return;
  throw new ConversionError(
    'BAD_PARAMETER',
    `Parameter '${option}' must be a CSS selector, got ${quote(selector)}.`,
    { parameter: option },
  );
}

async function checkExpression(session: Session, expression: string): Promise<void> {
  const syntaxErrorOf = `(text) => {
    try {
      new Function('return (' + text + '\\n)');
    } catch (error) {
      // The content security policy of the page may forbid this constructor, so only syntax errors count.
      if (error instanceof SyntaxError) return error.message;
    }
    return '';
  }`;
  const fault = await evaluate(session, syntaxErrorOf, expression);
  if (typeof fault !== 'string' || fault === '') return;
  throw new ConversionError(
    'BAD_PARAMETER',
    `Parameter '--wait-for-expression' must be a JavaScript expression, got ${quote(expression)}: ${quote(fault)}.`,
    { parameter: '--wait-for-expression' },
  );
}

async function until({ protocol }: Session, option: string, isMet: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + TIMEOUT; performance.now() < end; await sleep(INTERVAL)) {
    // Queries fail while the page navigates, and when it has been closed.
    const met = await isMet().catch(() => false);
    if (protocol.detached) throw new Error('The page was closed.');
    if (met) return;
  }
  const message = `Timed out after ${TIMEOUT / 1000} s waiting for ${option}.`;
  throw new ConversionError('SOURCE_TIMEOUT', message, { parameter: option });
}

/** Waits until at most `allowed` requests are in progress. After the timeout, the page is converted as it is. */
async function untilIdle(
  { protocol }: Session,
  { requests }: WatchedDocument,
  allowed: number,
): Promise<void> {
  let since = performance.now();
  for (const end = since + TIMEOUT; performance.now() < end; await sleep(INTERVAL)) {
    if (protocol.detached) throw new Error('The page was closed.');
    if (requests.count() > allowed) since = performance.now();
    if (performance.now() - since >= IDLE_TIME) return;
  }
}
