import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { ConversionError, type ErrorReport } from '../errors.ts';
import { killOrphans } from './orphans.ts';
import { groupMemory, readStat } from './proc.ts';

/** How to start one engine process. It reads one JSON request a line on stdin and answers JSON lines on file descriptor 3. */
export interface WorkerCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the only variables a child gets: PATH, HOME, TMPDIR and LANG. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** What an engine writes on file descriptor 3, one JSON object a line. */
export type WorkerMessage =
  /** Once, when it can take requests. */
  | { readonly ready: true }
  /** Any number while a request runs, e.g. a finished page. */
  | { readonly event: unknown }
  /** Ends a request. */
  | { readonly result: unknown }
  /** Ends a request; the process stays usable. */
  | { readonly error: ErrorReport }
  /** Ends a request that was not begun, for the process finds itself broken; it ends, too. */
  | { readonly unusable: true };

/** The engine process ended, or broke the protocol, before it answered. */
export class WorkerCrash extends Error {
  override readonly name = 'WorkerCrash';
  /** Whether it never got as far as taking requests, though nobody killed it: the next one will do no better. */
  readonly atStart: boolean;
  /** Whether it was broken before the request came, which can have nothing to do with it. */
  readonly unusable: boolean;

  constructor(message: string, { atStart = false, unusable = false } = {}) {
    super(message);
    this.atStart = atStart;
    this.unusable = unusable;
  }
}

/** Seconds a process has for its start. */
const START_TIME = 30;
const LINE_BYTES = 4_000_000;
const NOISE_BYTES = 4_000;

const alive = new Set<WorkerProcess>();
leaveNoCore();
process.once('exit', () => {
  for (const engine of alive) engine.kill();
});

/** One child in a process group and a private home directory of its own; both go when it ends. */
export class WorkerProcess {
  /** Whom it has worked for; `undefined` while it is fresh. */
  tenant: string | undefined;
  requests = 0;
  readonly ready: Promise<void>;
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  readonly #home: string;
  #noise = '';
  #started = false;
  #ended = false;
  #receive: (message: WorkerMessage) => void;
  #fail: (crash: WorkerCrash) => void;

  /** Starts the child; `ready` rejects with `WorkerCrash` when it ends, or is silent for 30 s, before it can take requests. */
  constructor(start: (home: string) => WorkerCommand, temporary: string) {
    this.#home = mkdtempSync(join(temporary, 'engine-'));
    const { command, args, environment } = start(this.#home);
    this.#child = spawn(command, args, {
      cwd: this.#home,
      // A scrubbed environment: no credentials, no Lambda variables.
      env: { PATH: '/usr/bin:/bin', HOME: this.#home, TMPDIR: this.#home, LANG: 'C.UTF-8', ...environment },
      // An own process group, so that one signal ends whatever the engine started.
      detached: true,
      stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    });
    alive.add(this);

    const started = Promise.withResolvers<void>();
    this.#receive = (message) => {
      if (!('ready' in message)) return;
      this.#started = true;
      started.resolve();
    };
    this.#fail = started.reject;
    // Counted, not timed: a frozen function stands still while its clock runs on.
    let seconds = 0;
    const timer = setInterval(() => {
      seconds += 1;
      if (seconds === START_TIME) this.#end('silent at its start', { atStart: true });
    }, 1000);
    this.ready = started.promise.finally(() => clearInterval(timer));
    // Whoever needs the process awaits `ready`; a spare that dies unused must not end ours.
    this.ready.catch(() => {});

    const ended = Promise.withResolvers<void>();
    this.ended = ended.promise;
    const leave = async (reason: string, byItself: boolean) => {
      this.#end(reason, { atStart: byItself && !this.#started });
      killOrphans(this.#home);
      // What was killed may be writing its last: a directory that fills up again is emptied again.
      await rm(this.#home, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 }).catch(() => {});
      ended.resolve();
    };
    // A command that cannot be started has no exit.
    this.#child.once('error', (cause) => leave(cause.message, true));
    this.#child.once('exit', (code, signal) => leave(`exit ${code ?? signal}`, signal !== 'SIGKILL'));
    // Writing to a child that has just died is reported by its exit.
    this.#input.on('error', () => {});
    this.#child.stderr!.on('data', (chunk: Buffer) => {
      this.#noise = (this.#noise + chunk.toString()).slice(-NOISE_BYTES);
    });
    readLines(
      this.#child.stdio[3] as Readable,
      (line) => this.#parse(line),
      () => this.#end('a line without end'),
    );
  }

  get usable(): boolean {
    return !this.#ended;
  }

  /** Resident MiB of the child. */
  get memory(): number {
    return this.#child.pid === undefined ? 0 : readStat(this.#child.pid).memory;
  }

  /** Resident MiB of the child and whatever it started; memory that they share counts for each. */
  get groupMemory(): number {
    return this.#child.pid === undefined ? 0 : groupMemory(this.#child.pid);
  }

  /** Sends one request; rejects with what the engine reported, or with `WorkerCrash`. */
  async request(request: object, onEvent: (event: unknown) => void): Promise<unknown> {
    await this.ready;
    if (this.#ended) throw new WorkerCrash('The engine has ended.', { unusable: true });
    const answer = Promise.withResolvers<unknown>();
    this.requests += 1;
    this.#fail = answer.reject;
    this.#receive = (message) => {
      if ('event' in message) onEvent(message.event);
      if ('result' in message) answer.resolve(message.result);
      if ('error' in message) answer.reject(ConversionError.fromReport(message.error));
      if ('unusable' in message) this.#end('it was broken', { unusable: true });
    };
    this.#input.write(`${JSON.stringify(request)}\n`);
    return answer.promise.finally(() => {
      this.#receive = () => {};
      this.#fail = () => {};
    });
  }

  /** Ends the whole group at once; engines get no chance to clean up, their directory is ours to delete. */
  kill(): void {
    this.#end('killed');
  }

  get #input(): Writable {
    return this.#child.stdin!;
  }

  #parse(line: string): void {
    try {
      this.#receive(JSON.parse(line) as WorkerMessage);
    } catch {
      this.#end('a line that is no message');
    }
  }

  #end(reason: string, circumstances: { atStart?: boolean; unusable?: boolean } = {}): void {
    if (this.#ended) return;
    this.#ended = true;
    alive.delete(this);
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, 'SIGKILL');
    } catch {
      // The group is gone already.
    }
    this.#fail(new WorkerCrash(`The engine ended: ${reason}. ${this.#noise}`.trim(), circumstances));
  }
}

function readLines(stream: Readable, onLine: (line: string) => void, onOverflow: () => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('error', () => {});
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    if (rest.length > LINE_BYTES) return onOverflow();
    for (const line of lines) onLine(line);
  });
}

/** Keeps documents and secrets out of core files, ours and those of every child: the filter is inherited, and no memory passes it. */
function leaveNoCore(): void {
  try {
    writeFileSync('/proc/self/coredump_filter', '0');
  } catch {
    // A core file would then land in the engine's home, which is deleted with it.
  }
}
