import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** What a function answered: bytes, and whether they came as a stream or as an error. */
export interface Answer {
  readonly body: Buffer;
  readonly kind: 'response' | 'stream' | 'error';
  readonly contentType: string;
}

/** The Runtime API of one sandbox: hands out one event at a time and takes one answer for it. */
export class RuntimeApi {
  /** Called when the function asks for its next event: from then on it may be frozen. */
  onIdle: () => void = () => {};
  /** Called when the function could not start. */
  onInitError: (report: string) => void = () => {};
  /** Called when the runtime has ended, which a frozen sandbox shows in no other way. */
  onGone: () => void = () => {};
  /** Where it listens, `host:port`. */
  address = '';
  /** Connections that were not the runtime's own, which has one for all its life: somebody is after the next event. */
  visitors = 0;
  #own: Socket | undefined;
  #waiting: ServerResponse | undefined;
  #answer: ((answer: Answer) => void) | undefined;
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch(() => response.destroy());
  });

  async listen({ host, port } = { host: '127.0.0.1', port: 0 }): Promise<string> {
    this.#server.on('connection', (socket) => {
      if (this.#own) {
        this.visitors += 1;
        return;
      }
      this.#own = socket.once('close', () => this.onGone());
    });
    this.#server.requestTimeout = 0;
    // A function's connection stays open however long it is frozen.
    this.#server.keepAliveTimeout = 0;
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    this.address = `${host}:${(this.#server.address() as AddressInfo).port}`;
    return this.address;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Hands out an event to a function that waits for one. */
  invoke(event: unknown, deadline: number): Promise<Answer> {
    const response = this.#waiting!;
    this.#waiting = undefined;
    const { promise, resolve } = Promise.withResolvers<Answer>();
    this.#answer = resolve;
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'Lambda-Runtime-Aws-Request-Id': randomUUID(),
      'Lambda-Runtime-Deadline-Ms': String(deadline),
    });
    response.end(JSON.stringify(event));
    return promise;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Counted already; a real one would hand out the next event.
    if (request.socket !== this.#own) return void response.writeHead(403).end();
    const path = (request.url ?? '').replace('/2018-06-01/runtime/', '');
    if (path === 'invocation/next') {
      this.#waiting = response;
      this.onIdle();
      return;
    }
    const body = await buffer(request);
    response.writeHead(202, { 'Content-Type': 'application/json' }).end('{"status":"OK"}');
    if (path === 'init/error') return this.onInitError(body.toString());
    const contentType = request.headers['content-type'] ?? '';
    const streamed = request.headers['lambda-runtime-function-response-mode'] === 'streaming';
    const kind = path.endsWith('/error') ? 'error' : streamed ? 'stream' : 'response';
    this.#answer?.({ body, kind, contentType });
  }
}
