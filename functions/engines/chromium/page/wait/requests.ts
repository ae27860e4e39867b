import type { Protocol } from 'puppeteer-core';
import type { Session } from '../session.ts';

/** The pending requests of one page. */
export interface WatchedRequests {
  /** All of them. */
  count(): number;
  /** Whether a pending request may still change what the page shows. */
  areRelevant(): boolean;
  /** Milliseconds since one of the relevant requests made progress. 0 if none, or the document itself, is pending. */
  stalledFor(): number;
  /** Milliseconds since scripts received the end of a response. */
  sinceResponse(): number;
  /** Treats all requests that are pending now as irrelevant. */
  abandon(): void;
  /** Removes a request that ends without an event. */
  forget(requestId: string): void;
}

interface Request {
  readonly type: Protocol.Network.ResourceType | undefined;
  readonly url: string;
  /** Whether it is for the page itself and not for one of its resources. */
  readonly isDocument: boolean;
  hasResponse: boolean;
  /** `performance.now()`. */
  progress: number;
}

/** Types of requests that never end, or whose end changes nothing on the page. */
const IRRELEVANT = new Set<Protocol.Network.ResourceType | undefined>([
  'EventSource',
  'WebSocket',
  'Ping',
  'CSPViolationReport',
  'Prefetch',
  'Manifest',
]);
/** Milliseconds without progress after which a request counts as a stream or a poll. */
const STREAM_TIME = 2000;

/** URLs that wait for something to happen from the first request on, named as their libraries do. */
const POLL = /\b(long-?poll(ing)?|poll(ing)?|comet|cometd|bayeux|socket\.io|sockjs|signalr)\b/i;

/** Watches the requests of a page. */
export function watchRequests({ protocol, frameId }: Session): WatchedRequests {
  const underWay = new Map<string, Request>();
  const finished = new Set<string>();
  /** Creation times of sockets that are not open yet. */
  const opening = new Map<string, number>();
  let lastResponse = Number.NEGATIVE_INFINITY;
  let abandoned = new WeakSet<Request>();

  const advance = (requestId: string, hasResponse: boolean) => {
    const request = underWay.get(requestId);
    if (!request) return;
    request.hasResponse ||= hasResponse;
    request.progress = performance.now();
  };
  const end = (requestId: string) => {
    if (isScripted(underWay.get(requestId))) lastResponse = performance.now();
    underWay.delete(requestId);
  };
  protocol.on('Network.requestWillBeSent', (event) => {
    const { requestId, type, request } = event;
    // The body of a data URL is already available, and its end may not be reported.
    if (request.url.startsWith('data:')) return;
    // The script of a worker, whose end is only reported to the worker.
    if (type !== 'Document' && !requestId.includes('.')) return;
    const isDocument = type === 'Document' && event.frameId === frameId;
    const progress = performance.now();
    underWay.set(requestId, { type, url: request.url, isDocument, hasResponse: false, progress });
  });
  protocol.on('Network.responseReceived', ({ requestId }) => advance(requestId, true));
  protocol.on('Network.dataReceived', ({ requestId }) => advance(requestId, true));
  protocol.on('Network.loadingFinished', ({ requestId }) => {
    const request = underWay.get(requestId);
    if (request) finished.add(pollOf(request.url));
    end(requestId);
  });
  protocol.on('Network.loadingFailed', ({ requestId }) => end(requestId));
  // A socket counts as pending until it is open, and each of its messages as a response.
  protocol.on('Network.webSocketCreated', ({ requestId }) => opening.set(requestId, performance.now()));
  const onSocket = ({ requestId }: { requestId: string }) => {
    opening.delete(requestId);
    lastResponse = performance.now();
  };
  protocol.on('Network.webSocketHandshakeResponseReceived', onSocket);
  protocol.on('Network.webSocketFrameReceived', onSocket);
  protocol.on('Network.webSocketClosed', onSocket);

  function isRelevant(request: Request): boolean {
    if (IRRELEVANT.has(request.type) || abandoned.has(request)) return false;
    // A video is shown by its first frame.
    if (request.type === 'Media' && request.hasResponse) return false;
    if (!isScripted(request)) return true;
    // A stream that pauses, or a poll: the same request was sent and answered before.
    const goesOn = request.hasResponse || finished.has(pollOf(request.url)) || POLL.test(request.url);
    return !goesOn || performance.now() - request.progress < STREAM_TIME;
  }

  return {
    count: () => underWay.size,
    areRelevant: () =>
      [...underWay.values()].some(isRelevant) ||
      [...opening.values()].some((created) => performance.now() - created < STREAM_TIME),
    stalledFor: () => {
      const relevant = [...underWay.values()].filter(isRelevant);
      if (relevant.length === 0 || relevant.some(({ isDocument }) => isDocument)) return 0;
      return performance.now() - Math.max(...relevant.map(({ progress }) => progress));
    },
    sinceResponse: () => performance.now() - lastResponse,
    abandon: () => {
      abandoned = new WeakSet(underWay.values());
    },
    forget: (requestId) => void underWay.delete(requestId),
  };
}

/** Returns the URL without what differs from one request of a poll to the next. */
function pollOf(url: string): string {
  const parsed = URL.parse(url);
  for (const name of ['t', 'ts', 'time', 'timestamp', '_', 'sid', 'cb']) parsed?.searchParams.delete(name);
  return parsed?.href ?? url;
}

function isScripted(request: Request | undefined): boolean {
  return request?.type === 'XHR' || request?.type === 'Fetch';
}
