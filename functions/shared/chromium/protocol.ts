import type { Readable, Writable } from 'node:stream';
import type { CDPSession, CDPSessionEvents } from 'puppeteer-core';

/** One end of the debugging protocol: the browser itself, or one page of it. */
export interface Channel {
  readonly send: CDPSession['send'];
  on<Name extends keyof CDPSessionEvents & string>(
    name: Name,
    listener: (event: CDPSessionEvents[Name]) => void,
  ): void;
}

export interface Protocol {
  readonly browser: Channel;
  /** Attaches to a page. */
  attach(targetId: string): Promise<Channel & { readonly sessionId: string }>;
  /** Forgets a page that was closed. */
  detach(sessionId: string): void;
  /** Resolves when the browser has ended. */
  readonly ended: Promise<void>;
}

/** The browser refused a command, or was gone before it answered. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

interface Message {
  readonly id?: number;
  readonly sessionId?: string;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

type Listeners = Map<string, Array<(event: never) => void>>;

/**
 * Speaks the debugging protocol over two pipes: JSON messages, each ended by a zero byte.
 * Own code because puppeteer attaches to each page for itself, too, and makes a script world of its own in each document:
 * a third of what a small page costs.
 */
export function openProtocol(output: Writable, input: Readable): Protocol {
  const pending = new Map<number, PromiseWithResolvers<never>>();
  const listeners = new Map<string, Listeners>();
  const ended = Promise.withResolvers<void>();
  let count = 0;
  let isOpen = true;

  const request = (sessionId: string, method: string, params: unknown): Promise<never> => {
    if (!isOpen) return Promise.reject(new ProtocolError(`${method}: the browser has ended`));
    count += 1;
    const answer = Promise.withResolvers<never>();
    pending.set(count, answer);
    output.write(`${JSON.stringify({ id: count, method, params, sessionId: sessionId || undefined })}\0`);
    return answer.promise;
  };
  const channel = (sessionId: string): Channel => {
    const own: Listeners = new Map();
    listeners.set(sessionId, own);
    return {
      send: (method, params) => request(sessionId, method, params),
      on: (name, listener) => own.set(name, [...(own.get(name) ?? []), listener]),
    };
  };
  const receive = ({ id, sessionId = '', method = '', params, result, error }: Message) => {
    if (id === undefined) {
      for (const listener of listeners.get(sessionId)?.get(method) ?? []) listener(params as never);
      return;
    }
    const answer = pending.get(id);
    pending.delete(id);
    if (error) return answer?.reject(new ProtocolError(error.message));
    answer?.resolve(result as never);
  };
  const close = () => {
    isOpen = false;
    for (const answer of pending.values()) answer.reject(new ProtocolError('The browser has ended.'));
    pending.clear();
    ended.resolve();
  };

  output.on('error', () => {});
  input.on('error', () => {});
  input.on('close', close);
  readMessages(input, (text) => receive(JSON.parse(text) as Message));
  const browser = channel('');
  return {
    browser,
    attach: async (targetId) => {
      const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: true });
      return { ...channel(sessionId), sessionId };
    },
    detach: (sessionId) => listeners.delete(sessionId),
    ended: ended.promise,
  };
}

function readMessages(input: Readable, onMessage: (text: string) => void): void {
  let rest: Buffer[] = [];
  input.on('data', (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, start)) {
      const message = Buffer.concat([...rest, chunk.subarray(start, end)]).toString();
      rest = [];
      start = end + 1;
      onMessage(message);
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  });
}
