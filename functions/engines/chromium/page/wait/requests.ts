import type { Protocol } from 'puppeteer-core';
import type { CDPSession } from 'puppeteer-core/internal/api/CDPSession.js';
import { AUTO_ATTACH, type Session, WORKER_CLOCK } from '../session.ts';

/** The pending requests of one page. */
export interface WatchedRequests {
  /** Returns the number of all pending requests. */
  count(): number;
  /** Whether a pending request may still change the look of the page. */
  areRelevant(): boolean;
  /** Milliseconds since one of the relevant requests made progress. 0 if none, or the document itself, is pending. */
  stalledFor(): number;
  /** Whether anything was requested that may move without a script: a video, a drawing, or an animated image. */
  includeMoving(): boolean;
  /** Whether a connection is open on which data may arrive at any time. */
  haveStream(): boolean;
  /** When a request that may change the page last began or ended, or data came on a stream. `performance.now()`. */
  lastActivity(): number;
  /** Treats all requests that are pending now as irrelevant. */
  abandon(): void;
  /** Removes a request that ends without an event. */
  forget(requestId: string): void;
}

interface Request {
  readonly type: Protocol.Network.ResourceType | undefined;
  readonly url: string;
  /** Whether it is for the page itself, not for one of its resources. */
  readonly isDocument: boolean;
  /** The session of the worker that sent it. */
  readonly worker: string | undefined;
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
/** How long a request may make no progress before it counts as a stream or a poll, in milliseconds. */
const STREAM_TIME = 2000;

/** URLs of long polling, by the names that their libraries use. */
const POLL = /\b(long-?poll(ing)?|poll(ing)?|comet|cometd|bayeux|socket\.io|sockjs|signalr)\b/i;

/** Watches the requests of a page. */
export function watchRequests({ protocol, frameId }: Session): WatchedRequests {
  const pending = new Map<string, Request>();
  const finished = new Set<string>();
  /** Creation times of sockets that are not open yet. */
  const opening = new Map<string, number>();
  const open = new Set<string>();
  let includeMoving = false;
  let lastActivity = Number.NEGATIVE_INFINITY;
  let abandoned = new WeakSet<Request>();

  const advance = (requestId: string, hasResponse: boolean) => {
    const request = pending.get(requestId);
    if (!request) return;
    request.hasResponse ||= hasResponse;
    request.progress = performance.now();
  };
  const end = (requestId: string) => {
    if (!IRRELEVANT.has(pending.get(requestId)?.type)) lastActivity = performance.now();
    pending.delete(requestId);
  };
  // A socket counts as pending until it is open, and then as a stream.
  const receive = ({ requestId }: { requestId: string }) => {
    if (opening.delete(requestId)) open.add(requestId);
    lastActivity = performance.now();
  };

  /** Watches the requests of the page, or of one of its workers. */
  const listen = (target: CDPSession, worker?: string) => {
    target.on('Network.requestWillBeSent', (event) => {
      const { requestId, type, request } = event;
      includeMoving ||= type === 'Media' || /^data:image\/svg/i.test(request.url);
      // The body of a data URL is already available, and its end may not be reported.
      if (request.url.startsWith('data:')) return;
      // The end of a worker's script is only reported to the worker.
      if (type !== 'Document' && !requestId.includes('.')) return;
      const isDocument = type === 'Document' && event.frameId === frameId;
      const progress = performance.now();
      if (!IRRELEVANT.has(type)) lastActivity = progress;
      pending.set(requestId, { type, url: request.url, isDocument, worker, hasResponse: false, progress });
    });
    target.on('Network.responseReceived', ({ requestId, response }) => {
      includeMoving ||= /svg|gif|apng|webp|avif/.test(response.mimeType);
      advance(requestId, true);
    });
    target.on('Network.dataReceived', ({ requestId }) => advance(requestId, true));
    target.on('Network.loadingFinished', ({ requestId }) => {
      const request = pending.get(requestId);
      if (request) finished.add(pollOf(request.url));
      end(requestId);
    });
    target.on('Network.loadingFailed', ({ requestId }) => end(requestId));
    target.on('Network.webSocketCreated', ({ requestId }) => opening.set(requestId, performance.now()));
    target.on('Network.webSocketHandshakeResponseReceived', receive);
    target.on('Network.webSocketFrameReceived', receive);
    target.on('Network.eventSourceMessageReceived', receive);
    target.on('Network.webSocketClosed', (event) => {
      receive(event);
      open.delete(event.requestId);
    });
  };
  /** Pauses each worker, and any that it starts, until its requests are watched. */
  const attachWorkersOf = (parent: CDPSession) => {
    parent.on('Target.attachedToTarget', ({ sessionId }) => {
      const worker = protocol.connection()?.session(sessionId);
      if (!worker) return;
      listen(worker, sessionId);
      attachWorkersOf(worker);
      Promise.allSettled([
        worker.send('Network.enable'),
        worker.send('Target.setAutoAttach', AUTO_ATTACH),
        worker.send('Runtime.evaluate', { expression: WORKER_CLOCK }),
        worker.send('Runtime.runIfWaitingForDebugger'),
      ]);
    });
    parent.on('Target.detachedFromTarget', ({ sessionId }) => {
      for (const [id, { worker }] of pending) if (worker === sessionId) pending.delete(id);
    });
  };
  listen(protocol);
  attachWorkersOf(protocol);

  function isRelevant(request: Request): boolean {
    if (IRRELEVANT.has(request.type) || abandoned.has(request)) return false;
    // A video is shown by its first frame.
    if (request.type === 'Media' && request.hasResponse) return false;
    if (!isScripted(request)) return true;
    // A paused stream, or a poll: the same request was sent and answered before.
    const goesOn = request.hasResponse || finished.has(pollOf(request.url)) || POLL.test(request.url);
    return !goesOn || performance.now() - request.progress < STREAM_TIME;
  }

  return {
    count: () => pending.size,
    areRelevant: () =>
      [...pending.values()].some(isRelevant) ||
      [...opening.values()].some((created) => performance.now() - created < STREAM_TIME),
    stalledFor: () => {
      const relevant = [...pending.values()].filter(isRelevant);
      if (relevant.length === 0 || relevant.some(({ isDocument }) => isDocument)) return 0;
      return performance.now() - Math.max(...relevant.map(({ progress }) => progress));
    },
    includeMoving: () => includeMoving,
    haveStream: () =>
      open.size > 0 ||
      [...pending.values()].some(
        (request) =>
          /^(EventSource|Media)$/.test(request.type ?? '') || (isScripted(request) && !isRelevant(request)),
      ),
    lastActivity: () => lastActivity,
    abandon: () => {
      abandoned = new WeakSet(pending.values());
    },
    forget: (requestId) => void pending.delete(requestId),
  };
}

/** Returns the URL without the parts that differ between two requests of a poll. */
function pollOf(url: string): string {
  const parsed = URL.parse(url);
  for (const name of ['t', 'ts', 'time', 'timestamp', '_', 'sid', 'cb']) parsed?.searchParams.delete(name);
  return parsed?.href ?? url;
}

function isScripted(request: Request | undefined): boolean {
  return request?.type === 'XHR' || request?.type === 'Fetch';
}
