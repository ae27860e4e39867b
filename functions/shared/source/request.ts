import { constants } from 'node:crypto';
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { connect, isIP, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { CheckedUrl } from '../egress/guard.ts';
import { ConversionError } from '../errors.ts';
import { createFairQueue } from '../fair-queue.ts';
import { PRODUCT } from '../product.ts';
import { startArrivalTimer } from '../time.ts';

/** Maximum milliseconds for each phase of a download. */
export interface DownloadTimeouts {
  readonly connect: number;
  readonly headers: number;
  /** Time between two chunks of the body. */
  readonly idle: number;
  /** The whole download, including redirects. */
  readonly whole: number;
}

export const BUDGETS: DownloadTimeouts = { connect: 5000, headers: 10_000, idle: 5000, whole: 20_000 };

/**
 * Identifies the service to servers and to itself. A request that contains it must not start another conversion (RFC
 * 8586).
 */
export const CDN_LOOP = 'docmill';

/** Maximum number of interim (1xx) responses per request. Each costs this process as much as a response. */
const INTERIM_RESPONSES = 20;

/**
 * Bytes of a response to read ahead, as an option of its socket. In tiny chunks they take a hundred times as much
 * memory.
 */
export const READ_AHEAD = { highWaterMark: 1024 };

/**
 * TLS options that stop a server from burning our CPU: no server-chosen DH groups (thousands of bits take seconds)
 * and no renegotiation.
 */
const TLS_OPTIONS = {
  ciphers: `${constants.defaultCipherList}:!kDHE`,
  ecdhCurve: 'X25519:P-256:P-384:P-521',
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const;

/**
 * Sends one request to a checked URL and returns the response before its body is read.
 * @throws ConversionError `SOURCE_UNREACHABLE`, `SOURCE_TIMEOUT`.
 */
export function requestSource(
  checked: CheckedUrl,
  options: {
    readonly method?: 'GET' | 'HEAD';
    readonly authorization: string | undefined;
    readonly budgets: DownloadTimeouts;
    readonly signal: AbortSignal;
    /** The account whose turn a TLS handshake waits for. */
    readonly account: string;
  },
): Promise<IncomingMessage> {
  const { url, host, port, lookup } = checked;
  const { method = 'GET', authorization, budgets, signal, account } = options;
  const secure = url.protocol === 'https:';
  const headers = {
    host: url.host,
    accept: '*/*',
    // A response that is compressed anyway must be decoded in a worker.
    'accept-encoding': 'identity',
    'user-agent': PRODUCT,
    'cdn-loop': CDN_LOOP,
    ...(authorization === undefined ? {} : { authorization }),
  };
  return new Promise((resolve, reject) => {
    const gate = secure ? new TlsGate(checked, account) : undefined;
    const request = (secure ? requestHttps : requestHttp)({
      host,
      port,
      lookup,
      signal,
      method,
      headers,
      path: url.pathname + url.search,
      // A pooled connection was checked for another request, possibly for another host.
      agent: false,
      ...READ_AHEAD,
      ...(gate && { ...TLS_OPTIONS, socket: gate }),
      ...(secure && !isIP(host) ? { servername: host } : {}),
    });
    const giveUp = (message: string) => request.destroy(new ConversionError('SOURCE_TIMEOUT', message));
    const connecting = startArrivalTimer(budgets.connect, () =>
      giveUp('Connecting to the source server timed out.'),
    );
    const responding = startArrivalTimer(budgets.headers, () =>
      giveUp('The source server did not respond in time.'),
    );

    limitInterimResponses(request);
    request.once('socket', (socket) => {
      socket.once(secure ? 'secureConnect' : 'connect', () => {
        gate?.secured();
        connecting.stop();
        responding.restart();
      });
    });
    request.once('close', () => {
      gate?.destroy();
      connecting.stop();
      responding.stop();
      reject(unreachableError(new Error('closed without a response')));
    });
    // A 101 response detaches the socket from the request, which then emits no other event.
    request.once('upgrade', (_response, socket) => {
      socket.destroy();
      request.destroy(new Error('switched protocols'));
      reject(unreachableError(new Error('switched protocols')));
    });
    request.once('response', (response) => {
      responding.stop();
      resolve(response);
    });
    request.on('error', (error) => reject(unreachableError(error)));
    request.end();
  });
}

/** Aborts a request whose server keeps sending interim responses. */
export function limitInterimResponses(request: ClientRequest): void {
  let responses = 0;
  request.on('information', () => {
    responses += 1;
    if (responses <= INTERIM_RESPONSES) return;
    const message = 'The source server sent too many interim (1xx) responses.';
    request.destroy(new ConversionError('SOURCE_UNREACHABLE', message));
  });
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed',
  HPE_HEADER_OVERFLOW: 'its headers are too large',
};

/** Describes a network error for the caller. */
export function unreachableError(error: unknown): ConversionError {
  if (error instanceof ConversionError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reason =
    REASONS[code] ??
    (/CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/.test(code)
      ? 'its certificate is not valid'
      : code.startsWith('HPE_')
        ? 'it did not send a valid HTTP response'
        : 'the connection failed');
  return new ConversionError('SOURCE_UNREACHABLE', `The source server could not be reached: ${reason}.`, {
    cause: error,
  });
}

/**
 * Maximum bytes that a server may send before its handshake is complete. Most send 3 to 10 KB, and some a long list of
 * authorities for certificates of clients. OpenSSL checks each certificate, even of an unknown authority, and takes up to 4 ms
 * for one of 440 bytes.
 */
const MAX_HANDSHAKE = 32_000;
/** How long an account rests after a step of a handshake that was slow, as a multiple of the step's time. */
const REST = 3;
/** Maximum milliseconds of a step without a rest. */
const SLOW_STEP = 10;

/** Lets one step of a handshake be computed at a time, and accounts take turns. */
const steps = createFairQueue({ total: 1, perAccount: 1 });
/** Lets each account rest after a slow step. */
const rests = createFairQueue({ total: Number.POSITIVE_INFINITY, perAccount: 1 });

/**
 * A connection to a checked host below TLS. Until the handshake is complete, it bounds what the server makes this process
 * compute: the bytes are limited, and each chunk waits for its account's turn.
 */
export class TlsGate extends Duplex {
  readonly #socket: Socket;
  readonly #account: string;
  #received = 0;
  #isSecure = false;

  constructor({ host, port, lookup }: CheckedUrl, account: string) {
    super();
    this.#account = account;
    this.#socket = connect({ host, port, lookup, autoSelectFamily: true })
      .on('data', (chunk: Buffer) => this.#receive(chunk))
      .on('end', () => this.push(null))
      .on('error', (error) => this.destroy(error))
      .on('close', () => this.destroy());
  }

  /** Ends the limits, once the handshake is complete. */
  secured(): void {
    this.#isSecure = true;
  }

  #receive(chunk: Buffer): void {
    this.#received += chunk.length;
    if (this.#isSecure) {
      if (!this.push(chunk)) this.#socket.pause();
      return;
    }
    if (this.#received > MAX_HANDSHAKE) {
      const message = 'The source server could not be reached: its TLS handshake is too large.';
      this.destroy(new ConversionError('SOURCE_UNREACHABLE', message));
      return;
    }
    this.#socket.pause();
    rests.run(this.#account, () => this.#step(chunk)).then(() => this.#socket.resume());
  }

  async #step(chunk: Buffer): Promise<void> {
    let time = 0;
    await steps.run(this.#account, async () => {
      if (this.destroyed) return;
      const began = performance.now();
      this.push(chunk);
      await setImmediate();
      time = performance.now() - began;
    });
    if (time > SLOW_STEP) await setTimeout(REST * time);
  }

  override _read(): void {
    if (this.#isSecure) this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
