import { setTimeout as sleep } from 'node:timers/promises';
import { ConversionError } from '../../errors.ts';
import type { PageOptions } from '../page-options.ts';
import { isTrueInPage } from './evaluate.ts';
import type { WatchedDocument } from './navigation.ts';
import type { Session } from './session.ts';

/** Milliseconds that a named condition is waited for, and between two looks at it. */
const PATIENCE = 30_000;
const LOOK = 20;
/** Milliseconds without requests that count as idle. */
const IDLE = 500;

/**
 * Waits for whatever the caller named.
 * @throws ConversionError `SOURCE_TIMEOUT` naming what did not come about, `BAD_PARAMETER` for a broken selector.
 */
export async function waitAsAsked(
  session: Session,
  watched: WatchedDocument,
  options: PageOptions,
): Promise<void> {
  const { waitUntil, javascriptDelay, windowStatus, waitForSelector, waitForExpression } = options;
  if (waitUntil === 'networkidle0') await untilIdle(watched, 0);
  if (waitUntil === 'networkidle2') await untilIdle(watched, 2);
  if (javascriptDelay) await sleep(javascriptDelay);
  if (windowStatus !== undefined) {
    await until('--window-status', () =>
      isTrueInPage(session, `window.status === ${JSON.stringify(windowStatus)}`),
    );
  }
  if (waitForSelector !== undefined) {
    await until('--wait-for-selector', () =>
      isTrueInPage(session, `document.querySelector(${JSON.stringify(waitForSelector)})`),
    );
  }
  if (waitForExpression !== undefined) {
    await until('--wait-for-expression', () => isTrueInPage(session, waitForExpression));
  }
}

async function until(name: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + PATIENCE; Date.now() < end; await sleep(LOOK)) {
    // A page that is just going elsewhere has no answer.
    if (await isSo().catch(() => false)) return;
  }
  const seconds = PATIENCE / 1000;
  throw new ConversionError('SOURCE_TIMEOUT', `What '${name}' waits for did not come in ${seconds} seconds.`);
}

/** Pages that never are idle are taken as they are. */
async function untilIdle(watched: WatchedDocument, requests: number): Promise<void> {
  let since = Date.now();
  for (const end = since + PATIENCE; Date.now() < end; await sleep(LOOK)) {
    if (watched.busy() > requests) since = Date.now();
    if (Date.now() - since >= IDLE) return;
  }
}
