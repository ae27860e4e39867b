import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { ConversionError } from '../../shared/errors.ts';
import { engineSays } from '../../shared/log.ts';
import { makePrivateDirectory } from '../../shared/private-directory.ts';
import type {
  Answer,
  Cancel,
  ErrorAnswer,
  ErrorMessages,
  Progress,
  Request,
  Start,
  Work,
} from '../protocol.ts';
import { type Examination, type GroupState, NOTHING, watchGroup } from './linux/examine.ts';
import { diskUsage, preferAsOomVictim } from './linux/limits.ts';
import { killOrphans } from './linux/orphans.ts';
import { readStat } from './linux/proc.ts';
import { removeTree } from './linux/remove.ts';
import { openWorkspace, requestFolder } from './workspace.ts';

/** How to start a worker. It must speak the protocol of `../protocol.ts`. */
export interface WorkerCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Environment variables in addition to PATH, HOME, TMPDIR and LANG. The worker gets no others. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** The environment that workers run in. */
export interface WorkerPlace {
  /** Folder for the private directories of workers. */
  readonly temporary: string;
  /** Command that starts the workers' commands; see `launcherIn`. Without it, each worker has its own session. */
  readonly launcher?: readonly string[] | undefined;
  /** Messages of the errors that workers report only by code. */
  readonly messages?: ErrorMessages | undefined;
}

/** The worker exited or broke the protocol before the request ended. */
export class WorkerCrash extends Error {
  override readonly name = 'WorkerCrash';
  /** Whether it exited by itself before it was ready, as another worker probably would too. */
  readonly atStart: boolean;
  /** Whether it was not ready in time, perhaps only because the machine is busy. */
  readonly late: boolean;
  /** Whether it was unusable before the request, so that the request cannot be the cause. */
  readonly unusable: boolean;

  constructor(message: string, { atStart = false, late = false, unusable = false } = {}) {
    super(message);
    this.atStart = atStart;
    this.late = late;
    this.unusable = unusable;
  }
}

/**
 * Seconds that a starting worker may be idle (neither running nor waiting for a processor), and in total. On a busy
 * machine it gets little CPU time, and killing it for that would only make the machine busier.
 */
const START_TIME = { idle: 15, total: 240 } as const;
/** Maximum demand of an idle worker, in milliseconds per second. Its own timers take less. */
const IDLE_DEMAND = 20;
/** Bytes of stderr to keep for the log. */
const STDERR_TAIL = 4_000;
/**
 * Maximum output of a worker from the start of a request to the start of the next. The server's main thread reads it,
 * and a compromised engine could keep it busy. A PDF of 2,000 pages takes 2,010 messages and 140 kB, and engines
 * write less than 1 kB to stderr.
 */
const MAX_SENT = {
  bytes: 500_000,
  messages: 10_000,
  'bytes to stderr': 10_000_000,
  pieces: 100_000,
} as const;
const NOTHING_SENT = { bytes: 0, messages: 0, 'bytes to stderr': 0, pieces: 0 };

interface RunningRequest {
  receive(answer: Answer): void;
  fail(crash: WorkerCrash): void;
}

const alive = new Set<WorkerProcess>();
disableCoreDumps();
process.once('exit', () => {
  for (const worker of alive) worker.kill();
});

/** A child process with its own process group and private home directory, which are removed when it exits. */
export class WorkerProcess {
  /** The account that it has worked for, or `undefined` if it is fresh. */
  account: string | undefined;
  requests = 0;
  readonly ready: Promise<void>;
  readonly ended: Promise<void>;
  /** Why its home directory could not be deleted, once it has exited. */
  leftover: string | undefined;
  /** Why its engine runs without its own sandbox, once it is ready. */
  unsandboxed: string | undefined;
  readonly #child: ChildProcess;
  readonly #home: string;
  /** Empty folders of earlier requests, reused for the files of the next ones. */
  readonly #folders: string[] = [];
  #stderrTail = '';
  /** Keeps its stderr since it last began to work. */
  #said = '';
  #sent = { ...NOTHING_SENT };
  #started = false;
  #ended = false;
  readonly #messages: ErrorMessages;
  readonly #begin: (message: Answer | Start) => void;
  readonly #failStart: (crash: WorkerCrash) => void;
  /** Requests in progress, by ID. */
  readonly #running = new Map<number, RunningRequest>();

  /**
   * Starts the child, by a launcher or in its own session. `ready` rejects with `WorkerCrash` if the child exits or
   * hangs before it is ready.
   */
  constructor(start: (home: string) => WorkerCommand, { temporary, launcher, messages = {} }: WorkerPlace) {
    this.#messages = messages;
    this.#home = realpathSync.native(makePrivateDirectory(temporary, 'engine-'));
    const { command, args, environment } = start(this.#home);
    const [program, ...all] = [...(launcher ?? []), command, ...args] as const;
    this.#child = spawn(program!, all, {
      cwd: this.#home,
      // No other variables: they could contain credentials.
      env: { PATH: '/usr/bin:/bin', HOME: this.#home, TMPDIR: this.#home, LANG: 'C.UTF-8', ...environment },
      // Its own process group, so that one signal ends everything that the engine started.
      detached: launcher === undefined,
      stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    });
    alive.add(this);
    preferAsOomVictim(this.#child);

    const started = Promise.withResolvers<void>();
    this.#begin = (message) => {
      if (this.#started) return;
      if ('unstarted' in message) this.#end(message.unstarted.replace(/\.$/, ''), { atStart: true });
      if (!('ready' in message)) return;
      this.#started = true;
      this.unsandboxed = message.unsandboxed;
      started.resolve();
    };
    this.#failStart = started.reject;
    const timer = this.#limitStart();
    this.ready = started.promise.finally(() => clearInterval(timer));
    // Callers await `ready`. A spare that exits unused must not cause an unhandled rejection.
    this.ready.catch(() => {});

    const ended = Promise.withResolvers<void>();
    this.ended = ended.promise;
    const leave = async (reason: string, byItself: boolean) => {
      this.#end(reason, { atStart: byItself && !this.#started });
      await killOrphans(this.#home);
      await removeTree(this.#home).catch((thrown) => {
        this.leftover = `${this.#home} cannot be deleted: ${(thrown as Error).message}`;
      });
      ended.resolve();
    };
    // A command that cannot be started emits no exit event.
    this.#child.once('error', (cause) => leave(cause.message, true));
    this.#child.once('exit', (code, signal) => leave(`exit ${code ?? signal}`, signal !== 'SIGKILL'));
    // Without a free file descriptor, Node creates no pipes and emits the error later. A failed write to a child that
    // has just died is reported by its exit event.
    this.#child.stdin?.on('error', () => {});
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      const text = chunk.subarray(-STDERR_TAIL).toString();
      this.#stderrTail = (this.#stderrTail + text).slice(-STDERR_TAIL);
      this.#said = (this.#said + text).slice(-STDERR_TAIL);
      this.#count('bytes to stderr', chunk.length);
      this.#count('pieces', 1);
    });
    this.#answers?.on('error', () => {});
    this.#readAnswers();
  }

  get usable(): boolean {
    return !this.#ended;
  }

  /** Returns the bytes on disk of the home directory, the only place where the child can write. */
  diskUsage(): Promise<number> {
    return diskUsage(this.#home);
  }

  /** Whether it can take requests or is running one. */
  get isReady(): boolean {
    return this.#started && !this.#ended;
  }

  /** Resident MiB of the child. */
  get memory(): number {
    return this.#child.pid === undefined ? 0 : readStat(this.#child.pid).memory;
  }

  /** Returns the processor time of the process in milliseconds. */
  get cpuTime(): number {
    return this.#child.pid === undefined ? 0 : readStat(this.#child.pid).cpuTime;
  }

  /**
   * Measures the child and everything it started, and kills them if they have more than `maxThreads`. Shared memory
   * is counted for every process that maps it.
   */
  async groupState(examination: Omit<Examination, 'group'>): Promise<GroupState> {
    const group = this.#child.pid;
    return group === undefined || this.#ended ? NOTHING : watchGroup({ ...examination, group });
  }

  /**
   * Sends one request. Its files are in `directory` and, while it runs, in the worker's home. Only workers that use
   * `serveConcurrently` take several at the same time. `cancelled` is for workers that can end a request early.
   * Rejects with the error that the worker reported, or with `WorkerCrash`.
   */
  async request(
    work: Work,
    directory: string,
    { onHeartbeat, onOutput }: Progress,
    cancelled?: AbortSignal,
  ): Promise<unknown> {
    await this.ready;
    cancelled?.throwIfAborted();
    if (!existsSync(this.#home)) this.#end('its home directory was deleted', { unusable: true });
    if (this.#ended) throw new WorkerCrash('The worker has exited.', { unusable: true });
    const folder = requestFolder(this.#home, this.#folders.pop());
    const workspace = openWorkspace(folder, directory, work);
    try {
      const progress: Progress = {
        onHeartbeat,
        onOutput: (file) => {
          workspace.collect(file.name);
          onOutput?.(file);
        },
      };
      const result = await this.#send(work, folder, progress, cancelled);
      if (!workspace.collectAll()) {
        this.#end('it left too many files');
        throw new ConversionError('RESULT_TOO_LARGE', 'The conversion created too many files.');
      }
      if (this.usable && (await workspace.empty())) this.#folders.push(folder);
      return result;
    } catch (thrown) {
      // Otherwise it is deleted with the home directory.
      if (this.usable) await workspace.close();
      throw thrown;
    }
  }

  /** Kills the worker if it hangs before it is ready. */
  #limitStart(): NodeJS.Timeout {
    // Counts seconds instead of reading the clock, because a Lambda function can be frozen while it waits.
    const seconds = { idle: 0, total: 0 };
    let before = 0;
    return setInterval(async () => {
      const { demand } = await this.groupState({ maxThreads: Number.POSITIVE_INFINITY, isThorough: false });
      seconds.total += 1;
      if (Math.abs(demand - before) < IDLE_DEMAND) seconds.idle += 1;
      before = demand;
      if (seconds.idle === START_TIME.idle || seconds.total === START_TIME.total)
        this.#end('it was not ready in time', { atStart: true, late: true });
    }, 1000);
  }

  async #send(
    work: Work,
    directory: string,
    { onHeartbeat, onOutput }: Progress,
    cancelled: AbortSignal | undefined,
  ): Promise<unknown> {
    const response = Promise.withResolvers<unknown>();
    this.requests += 1;
    const id = this.requests;
    this.#sent = { ...NOTHING_SENT };
    if (this.#running.size === 0) this.#said = '';
    const receive = (answer: Answer) => {
      if ('heartbeat' in answer) onHeartbeat?.(answer.heartbeat);
      if ('output' in answer) onOutput?.(answer.output);
      if ('result' in answer) {
        response.resolve(answer.result);
        if (answer.last) this.#end('it served its last request');
      }
      // Later, when everything that it wrote before the answer has been read, too.
      if ('error' in answer) setImmediate(() => response.reject(this.#errorOf(answer.error)));
      if ('unusable' in answer) this.#end('it reported that it is unusable', { unusable: true });
    };
    const cancel = () => this.#write({ cancel: id });
    const { operation, arguments: args, inputs = [], outputs = [] } = work;
    this.#running.set(id, { receive, fail: response.reject });
    this.#write({ id, operation, arguments: args, directory, inputs, outputs });
    cancelled?.addEventListener('abort', cancel, { once: true });
    try {
      return await response.promise;
    } finally {
      this.#running.delete(id);
      cancelled?.removeEventListener('abort', cancel);
    }
  }

  #write(message: Request | Cancel): void {
    this.#input.write(`${JSON.stringify(message)}\n`);
  }

  /** Rebuilds a reported error. A code that is unknown, or has no message, becomes `INTERNAL`. */
  #errorOf({ code, message, values: details = {}, cause }: ErrorAnswer): ConversionError {
    const messages = new Map<string, ((details: object) => string) | undefined>(
      Object.entries(this.#messages),
    );
    const sentence = message ?? messages.get(code)?.(details);
    if (sentence === undefined) return ConversionError.from({ code, details });
    return ConversionError.fromReport({
      code,
      message: sentence,
      details,
      cause: cause ?? engineSays(this.#said),
    });
  }

  /** Kills the whole process group. Engines cannot clean up, so their directory is removed afterwards. */
  kill(): void {
    this.#end('it was killed');
  }

  get #input(): Writable {
    return this.#child.stdin!;
  }

  /** `undefined` if the child could not be started. */
  get #answers(): Readable | undefined {
    return (this.#child.stdio as ChildProcess['stdio'] | undefined)?.[3] as Readable | undefined;
  }

  #readAnswers(): void {
    let rest: string[] = [];
    this.#answers?.setEncoding('utf8');
    this.#answers?.on('data', (chunk: string) => {
      this.#count('bytes', chunk.length);
      this.#count('pieces', 1);
      // The parts of a line are joined only once, because a hostile engine may send it in tiny pieces.
      const [end, ...lines] = chunk.split('\n');
      rest.push(end!);
      if (lines.length === 0) return;
      this.#parse(rest.join(''));
      rest = [lines.pop()!];
      for (const line of lines) this.#parse(line);
    });
  }

  /** Kills the worker if it has sent too much. */
  #count(what: keyof typeof MAX_SENT, amount: number): void {
    this.#sent[what] += amount;
    if (this.#sent[what] > MAX_SENT[what]) this.#end(`it sent more than ${MAX_SENT[what]} ${what}`);
  }

  #parse(line: string): void {
    this.#count('messages', 1);
    if (this.#ended) return;
    try {
      const message = JSON.parse(line) as Answer | Start;
      // A late answer to an earlier request has no receiver.
      if (this.#started && 'id' in message) this.#running.get(message.id)?.receive(message);
      else this.#begin(message);
    } catch (thrown) {
      const isJson = !(thrown instanceof SyntaxError);
      this.#end(
        isJson
          ? `its answer cannot be used: ${(thrown as Error).message}`
          : 'it sent a line that is not JSON',
      );
    }
  }

  /** Returns the error for a request that has not ended. */
  #end(reason: string, details: { atStart?: boolean; late?: boolean; unusable?: boolean } = {}): WorkerCrash {
    const crash = new WorkerCrash(`The worker exited: ${reason}. ${this.#stderrTail}`.trim(), details);
    if (this.#ended) return crash;
    this.#ended = true;
    alive.delete(this);
    // Answers sent before the kill are not read.
    this.#answers?.destroy();
    this.#child.stderr?.destroy();
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, 'SIGKILL');
    } catch {
      // The group no longer exists, or its launcher has not created it yet.
      this.#child.kill('SIGKILL');
    }
    this.#failStart(crash);
    for (const { fail } of this.#running.values()) fail(crash);
    return crash;
  }
}

/** Keeps documents and secrets out of core dumps of this process and its children, which inherit the filter. */
function disableCoreDumps(): void {
  try {
    writeFileSync('/proc/self/coredump_filter', '0');
  } catch {
    // Without the filter, a core dump is written to the worker's home directory, which is deleted with it.
  }
}
