import { setTimeout as sleep } from 'node:timers/promises';
import { ConversionError } from '../../../shared/errors.ts';
import { kindOfText, notAPageError } from '../../../shared/source/file-kind.ts';
import { within } from '../../../shared/time.ts';
import type { PageFailure, PageRequest } from '../request.ts';
import { revealContent } from './content.ts';
import { addStyleSheet, enlargeSmallText, evaluate } from './evaluate.ts';
import { prepare, showAttachments } from './prepare.ts';
import { type Session, setViewport, type Viewport } from './session.ts';
import { checkSelector, waitForConditions } from './wait/conditions.ts';
import { type WatchedDocument, watchDocument } from './wait/navigation.ts';
import { settle } from './wait/settle.ts';
import { newClock, unblock } from './wait/virtual-time.ts';

/** Timeout for parsing the document, in milliseconds. */
const DOCUMENT_TIMEOUT = 30_000;
/** Timeout for images, scripts and style sheets after that, in milliseconds. */
const LOAD_TIMEOUT = 20_000;
/** How long a document is parsed without frames, in milliseconds. Earlier, frames would only slow it down. */
const FRAMELESS_TIME = 100;
/** Interval between two checks of a loading page, in milliseconds. */
const INTERVAL = 100;
/** Maximum number of navigations that a page may start by itself. */
const REDIRECTS = 5;

/** Removes Chromium's viewer styles from images, JSON and XML, and stops the caret from blinking. */
const NORMALIZE_VIEWER = `() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(':root { caret-animation: manual !important }');
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  const { contentType, body, documentElement } = document;
  if (/^image\\/(?!svg)/.test(contentType) && body?.firstElementChild) {
    documentElement.style.cssText = 'height: auto';
    body.style.cssText = 'margin: 0; background: none; height: auto; display: block';
    body.firstElementChild.style.cssText = 'display: block; max-width: 100%; height: auto';
  }
  if (/json/.test(contentType)) document.querySelector('.json-formatter-container')?.remove();
  if (document.getElementById('webkit-xml-viewer-source-xml')) document.querySelector('.header')?.remove();
}`;

/** The part of the page that is shown, and window sizes that depend on the page. */
interface Windows {
  /** Whether the result shows all content of the page (the default), not only a window of it. */
  readonly isWhole?: boolean;
  /** Returns the window that a loaded page settles in. */
  loaded?(): Promise<Viewport>;
  /** Returns the window for the page once it has stopped changing. */
  settled?(): Promise<Viewport>;
}

/**
 * Navigates a page to its URL and waits until it stops changing. Returns false if that took too long.
 * @throws ConversionError `SOURCE_STATUS`, `SOURCE_UNREACHABLE`, `SOURCE_TIMEOUT`, `UNSUPPORTED_SOURCE`, `CORRUPT_SOURCE`.
 */
export async function visit(
  session: Session,
  request: PageRequest,
  viewport: Viewport,
  tell: (failure: PageFailure) => void,
  windows: Windows = {},
): Promise<boolean> {
  const { protocol } = session;
  const { url, options, limits } = request;
  const { settleTime } = limits;
  const watched = watchDocument(session);
  const clock = newClock();
  await prepare(session, request, viewport);

  const timeoutError = new ConversionError(
    'SOURCE_TIMEOUT',
    `Timed out after ${DOCUMENT_TIMEOUT / 1000} s waiting for the page.`,
  );
  const navigate = () => within(DOCUMENT_TIMEOUT, protocol.send('Page.navigate', { url }), timeoutError);
  let { errorText, isDownload } = await navigate();
  if (isDownload && watched.isAttachedPage()) {
    await showAttachments(session, request);
    ({ errorText, isDownload } = await navigate());
  }
  const check: typeof watched.check = (outcome) => {
    try {
      watched.check(outcome);
    } catch (error) {
      tell({ failed: watched.url() });
      throw error;
    }
  };
  check({ errorText, isDownload, options });

  let inTime = true;
  for (let redirects = 0; ; redirects++) {
    if (redirects > REDIRECTS) {
      throw new ConversionError('SOURCE_UNREACHABLE', 'Too many client-side redirects.');
    }
    // A document that takes long to parse may be waiting for a frame.
    const begin = setTimeout(() => session.frames.start(), FRAMELESS_TIME);
    const stalls = cutStalled(session, watched, settleTime);
    let documentId: string;
    try {
      documentId = await within(DOCUMENT_TIMEOUT, unblock(session, watched.parsed()), timeoutError);
      session.frames.start();
      await addStyleSheet(session, request.texts.styleSheet);
      if (options.waitUntil !== 'domcontentloaded') {
        await within(LOAD_TIMEOUT, unblock(session, watched.loaded()));
      }
    } finally {
      clearTimeout(begin);
      inTime = !stalls.end() && inTime;
    }
    if (redirects === 0) await waitForConditions(session, watched, options);
    try {
      await hide(session, options.hide);
      // The browser runs them in this order.
      const [, , , , window = viewport] = await Promise.all([
        checkKind(session),
        enlargeSmallText(session, options.minimumFontSize),
        evaluate(session, NORMALIZE_VIEWER),
        revealContent(session),
        windows.loaded?.(),
      ]);
      await setViewport(session, window);
      const adapt = windows.settled ?? (async () => window);
      const { isWhole = true } = windows;
      const settings = { watched, documentId, clock, settleTime, isWhole, adapt };
      inTime = (await settle(session, settings)) && inTime;
      // Includes elements that scripts have added since.
      await enlargeSmallText(session, options.minimumFontSize);
    } catch (error) {
      if (watched.documentId() === documentId) throw error;
    }
    // Otherwise the page navigated, by a script or by a refresh in its head.
    if (watched.documentId() === documentId) break;
  }
  check({ options });
  return inTime;
}

/** Returns the beginning of a document's text. */
const FIRST_TEXT = `() => document.createTreeWalker(document, NodeFilter.SHOW_TEXT).nextNode()?.data.slice(0, 64) ?? ''`;

/**
 * Checks that a document is not a file that the browser shows as text because the server did not say what it is.
 * @throws ConversionError `UNSUPPORTED_SOURCE`
 */
async function checkKind(session: Session): Promise<void> {
  const kind = kindOfText(String(await evaluate(session, FIRST_TEXT)));
  if (kind) throw notAPageError(kind);
}

async function hide(session: Session, selectors: readonly string[]): Promise<void> {
  if (selectors.length === 0) return;
  for (const selector of selectors) await checkSelector(session, '--hide', selector);
  await addStyleSheet(session, `${selectors.join(', ')} { display: none !important }`);
}

/** Aborts requests that make no progress, until `end`, which returns whether there were any. */
function cutStalled({ relay }: Session, { requests }: WatchedDocument, settleTime: number) {
  let stalled = false;
  let ended = false;
  const watch = async () => {
    for (; !ended; await sleep(INTERVAL)) {
      if (requests.stalledFor() < settleTime) continue;
      stalled = true;
      requests.abandon();
      relay.cut();
    }
  };
  watch();
  return {
    end: () => {
      ended = true;
      return stalled;
    },
  };
}
