import { connect, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { CheckedUrl } from '../egress/guard.ts';
import { ConversionError } from '../errors.ts';
import { createFairQueue } from '../fair-queue.ts';

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
