import type { Protocol } from 'puppeteer-core';
import { ConversionError } from '../../../../shared/errors.ts';
import { quote } from '../../../../shared/quote.ts';
import { kindOfType, toolHint } from '../../../../shared/source/file-kind.ts';
import type { PageOptions } from '../../page-options.ts';
import type { Session } from '../session.ts';
import { type WatchedRequests, watchRequests } from './requests.ts';

/** Facts about a page's document, from network events. */
export interface WatchedDocument {
  /** URL that was requested last, redirects included. */
  url(): string;
  /** Identifies the current document. */
  documentId(): string;
  /** Resolves with the ID of the current document when it has been parsed. */
  parsed(): Promise<string>;
  /** Resolves when the load event of the current document has fired. */
  loaded(): Promise<void>;
  /**
   * Whether the current document will soon be replaced, by `<meta http-equiv=refresh>` or a `Refresh` header. Reloads
   * of a document that was already shown do not count, because many pages reload themselves.
   */
  willRefresh(): boolean;
  readonly requests: WatchedRequests;
  /** Whether the URL points to a web page that the server sends as an attachment. */
  isAttachedPage(): boolean;
  /** @throws ConversionError if the document cannot be converted */
  check(outcome: {
    errorText?: string | undefined;
    isDownload?: boolean | undefined;
    options: PageOptions;
  }): void;
}

/** Maximum delay in seconds of a refresh that is waited for. */
const MAX_REFRESH_DELAY = 10;

/** Starts watching a page that has not navigated yet. */
export function watchDocument(session: Session): WatchedDocument {
  const { protocol, frameId } = session;
  let url = '';
  let documentRequest = '';
  let documentId = '';
  let unreachable = false;
  let last: Protocol.Network.Response | undefined;
  const responses = new Map<string, Protocol.Network.Response>();
  let loadFailure: { readonly reason: string; readonly url: string } | undefined;
  /** URLs of resources that are being loaded, by request. */
  const loading = new Map<string, string>();
  let exception: string | undefined;
  const statuses = new Map<number, string>();
  let parsed = open<string>();
  let loaded = open<void>();
  let willRefresh = false;
  const shown = new Set<string>();
  const requests = watchRequests(session);

  protocol.on('Network.requestWillBeSent', (event) => {
    const { redirectResponse } = event;
    if (redirectResponse) statuses.set(redirectResponse.status, redirectResponse.url);
    loading.set(event.requestId, event.request.url);
    if (event.type !== 'Document' || event.frameId !== frameId) return;
    url = event.request.url;
    documentRequest = event.requestId;
  });
  protocol.on('Network.loadingFinished', ({ requestId }) => void loading.delete(requestId));
  protocol.on('Network.loadingFailed', ({ requestId, canceled, blockedReason, errorText }) => {
    const failed = { reason: errorText, url: loading.get(requestId) ?? '' };
    loading.delete(requestId);
    // Images that `--no-images` blocks do not count.
    if (!canceled && blockedReason !== 'inspector') loadFailure ??= failed;
  });
  protocol.on('Network.responseReceived', (event) => {
    const main = event.type === 'Document' && event.frameId === frameId;
    if (main) {
      last = event.response;
      responses.set(event.loaderId, last);
    }
    statuses.set(event.response.status, event.response.url);
    const { status, url: from } = event.response;
    if (!main && status >= 400) loadFailure ??= { reason: `status ${status}`, url: from };
  });
  protocol.on('Runtime.exceptionThrown', ({ exceptionDetails: { text, exception: thrown } }) => {
    exception ??= thrown?.description?.split('\n', 1)[0] ?? text;
  });
  protocol.on('Page.frameScheduledNavigation', (event) => {
    if (event.frameId === frameId) willRefresh = event.delay <= MAX_REFRESH_DELAY && !shown.has(event.url);
  });
  protocol.on('Page.frameClearedScheduledNavigation', (event) => {
    if (event.frameId === frameId) willRefresh = false;
  });
  protocol.on('Page.frameNavigated', ({ frame }) => {
    if (frame.id !== frameId) return;
    willRefresh = false;
    documentId = frame.loaderId;
    shown.add(frame.url);
    unreachable = frame.unreachableUrl !== undefined;
    if (parsed.settled) parsed = open();
    if (loaded.settled) loaded = open();
  });
  // Ignores late events of the blank page.
  protocol.on('Page.domContentEventFired', () => documentId && parsed.settle(documentId));
  protocol.on('Page.loadEventFired', () => documentId && loaded.settle());
  // Neither event fires if the page stops loading by itself, or navigates to a download.
  protocol.on('Page.frameStoppedLoading', (event) => {
    if (event.frameId !== frameId || !documentId) return;
    requests.forget(documentRequest);
    parsed.settle(documentId);
    loaded.settle();
  });

  return {
    url: () => url,
    documentId: () => documentId,
    parsed: () => parsed.promise,
    loaded: () => loaded.promise,
    willRefresh: () => willRefresh,
    requests,
    isAttachedPage: () => /^(text\/html|application\/xhtml\+xml)$/.test(last?.mimeType ?? ''),
    check: ({ errorText, isDownload, options }) => {
      const failed = errorText ?? (unreachable ? 'net::ERR_FAILED' : undefined);
      const response = responses.get(documentId) ?? last;
      const status = response?.status ?? 0;
      if (status >= 400 && (failed !== undefined || options.loadErrors === 'abort')) {
        const hint =
          status === 401 && options.username === undefined ? ' Set --username and --password.' : '';
        throw new ConversionError('SOURCE_STATUS', `The page returned status ${status}.${hint}`);
      }
      checkStatuses(statuses, options.failOnStatus);
      if (options.failOnException && exception !== undefined) {
        throw new ConversionError('CONVERSION_FAILED', `A script on the page threw ${quote(exception)}.`);
      }
      const isMedia = /^(video|audio)\//.test(response?.mimeType ?? '');
      if (isDownload || isMedia) throw notAWebPageError(response?.mimeType);
      if (failed !== undefined) throw unreachableError(failed, status);
      if (options.mediaErrors === 'abort' && loadFailure !== undefined) {
        const { reason, url: from } = loadFailure;
        const code = reason.startsWith('status') ? 'SOURCE_STATUS' : 'SOURCE_UNREACHABLE';
        throw new ConversionError(code, `A resource on the page failed to load: ${quote(from)} (${reason}).`);
      }
    },
  };
}

function checkStatuses(statuses: ReadonlyMap<number, string>, patterns: readonly string[] = []): void {
  for (const [status, url] of statuses) {
    const isGiven = patterns.some(
      (pattern) => pattern === String(status) || pattern === `${String(status)[0]}xx`,
    );
    if (!isGiven) continue;
    throw new ConversionError(
      'SOURCE_STATUS',
      `The page or one of its resources returned status ${status}: ${quote(url)}.`,
    );
  }
}

function open<Value>() {
  const { promise, resolve } = Promise.withResolvers<Value>();
  const state = { promise, settled: false, settle: (_value: Value) => {} };
  state.settle = (value) => {
    state.settled = true;
    resolve(value);
  };
  return state;
}

function notAWebPageError(mimeType: string | undefined): ConversionError {
  const what = mimeType ? `a file of type ${quote(mimeType)}` : 'a file';
  const kind = kindOfType(mimeType ?? '');
  const hint = kind ? ` ${toolHint(kind)}` : '';
  return new ConversionError('UNSUPPORTED_SOURCE', `The URL points to ${what}, not to a web page.${hint}`);
}

const REASONS: Readonly<Record<string, string>> = {
  'net::ERR_EMPTY_RESPONSE': 'the connection was closed',
  'net::ERR_CONNECTION_RESET': 'the connection was closed',
  'net::ERR_TOO_MANY_REDIRECTS': 'too many redirects',
  'net::ERR_INVALID_REDIRECT': 'it redirects to an invalid URL',
  'net::ERR_UNSAFE_REDIRECT': 'it redirects to a URL that is not http or https',
  'net::ERR_UNKNOWN_URL_SCHEME': 'it redirects to a URL that is not http or https',
  'net::ERR_CONTENT_DECODING_FAILED': 'its compressed body is damaged',
  'net::ERR_CONTENT_LENGTH_MISMATCH': 'the connection was closed',
  'net::ERR_INCOMPLETE_CHUNKED_ENCODING': 'the connection was closed',
};

/** Translates the browser's error code into a sentence for the caller. */
function unreachableError(errorText: string, status: number): ConversionError {
  if (/TIMED_OUT/.test(errorText)) {
    return new ConversionError('SOURCE_TIMEOUT', 'The page did not respond in time.');
  }
  if (errorText === 'net::ERR_ABORTED' && (status === 204 || status === 205)) {
    return new ConversionError('CORRUPT_SOURCE', 'The page is empty.');
  }
  const certificate = /CERT|SSL/.test(errorText)
    ? 'its certificate is invalid or the TLS connection failed'
    : undefined;
  const reason = REASONS[errorText] ?? certificate ?? 'the connection failed';
  return new ConversionError('SOURCE_UNREACHABLE', `The page could not be reached: ${reason}.`, {
    cause: new Error(errorText),
  });
}
