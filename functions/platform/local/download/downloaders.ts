import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Work } from '../../../engines/protocol.ts';
import { nodeEnvironment } from '../../../engines/worker/node-environment.ts';
import { observe } from '../../../engines/worker/pool.ts';
import { WorkerCrash, WorkerProcess } from '../../../engines/worker/process.ts';
import { startInTurn } from '../../../engines/worker/start-in-turn.ts';
import type { Resolve } from '../../../shared/egress/resolver.ts';
import { ConversionError, stoppingError } from '../../../shared/errors.ts';
import { describe, type Log } from '../../../shared/log.ts';
import { textSetting } from '../../../shared/settings/environment.ts';
import { downloadTimeoutError, type ReadValidators } from '../../../shared/source/download.ts';
import type { ReadFacts, SourceFacts } from '../../../shared/source/file-kind.ts';
import { BUDGETS } from '../../../shared/source/request.ts';
import { untilAborted, withTimeout } from '../../../shared/time.ts';
import type { Download, EngineDependencies, SourceFile } from '../../../shared/tool.ts';
import type { WorkerObserver } from '../../../shared/warm-workers.ts';

/** Settings of a download process. Every user of the machine can see them. */
export interface DownloaderSettings
  extends Pick<EngineDependencies, 'layers' | 'code' | 'launcher' | 'size' | 'sandbox'> {
  /** See `EgressRules`. */
  readonly exceptions: readonly string[];
  readonly ownHosts: readonly string[];
  readonly dnsServers: readonly string[];
}

export interface DownloadRequest {
  readonly url: string;
  readonly account: string;
  readonly sourceBytes: number;
}

/** A request about a source that is not downloaded. */
export interface UrlRequest {
  readonly url: string;
  readonly account: string;
}

export interface ResolveRequest {
  readonly host: string;
}

interface Dependencies {
  /** Folder for the private directories of the processes. */
  readonly temporary: string;
  /** Command that starts the processes; see `launcherIn`. */
  readonly launcher?: readonly string[] | undefined;
  /** Maximum number of processes. */
  readonly max: number;
  readonly log: Log;
  readonly observer?: WorkerObserver | undefined;
}

interface Downloader {
  readonly worker: WorkerProcess;
  /** Number of downloads in progress by account. */
  readonly running: Map<string, number>;
  /** Milliseconds on the monotonic clock. */
  idleSince: number;
  /** Milliseconds of processor time at the last check. */
  cpuTime: number;
}

const SCRIPT = fileURLToPath(new URL('./worker.ts', import.meta.url));
/** Maximum MiB of the heap. A download keeps less than 1 MiB in memory, and none of it in the heap for long. */
const MAX_HEAP = 64;
const MAX_MEMORY = 300;
/** Attempts per download: the process it is retried in may be dying, too. */
const MAX_ATTEMPTS = 3;
/** Interval between two checks, and maximum idle time of a process, in milliseconds. */
const CHECK_INTERVAL = 1000;
const IDLE_TIME = 60_000;
/** How long an idle process is kept for the account that used it, in milliseconds. Most send their next request sooner. */
const KEPT_TIME = 5000;
/** Timeout for a process to respond after the timeout or cancellation of a download, in milliseconds. */
const RESPONSE_TIMEOUT = 5000;
/** Environment variables for private CAs and Node options, passed through. */
const TLS_VARIABLES = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_OPTIONS'];

/**
 * Runs downloads, and look-ups of pages, in separate processes, so that expensive DNS or TLS handshakes never block the main process or
 * another account. A process downloads for one account at a time, unless there are more accounts than processes. Then
 * they share those that use the least processor time.
 */
export class Downloaders {
  readonly #start: (reason: 'spare' | 'demand') => Downloader;
  readonly #dependencies: Dependencies;
  readonly #downloaders = new Set<Downloader>();
  readonly #timer: NodeJS.Timeout;
  #closed = false;

  constructor(settings: DownloaderSettings, dependencies: Dependencies) {
    this.#dependencies = dependencies;
    const command = {
      command: process.execPath,
      args: [`--max-old-space-size=${MAX_HEAP}`, SCRIPT, JSON.stringify(settings)],
      environment: {
        // A call whose process was killed waits for a new one, which starts in less than half the time with the code compiled.
        NODE_COMPILE_CACHE: join(dependencies.temporary, 'compile-cache'),
        ...nodeEnvironment(),
        ...tlsEnvironment(),
      },
    };
    this.#start = (reason) => {
      const started = new WorkerProcess(() => command, dependencies);
      const isWorking = () => [...this.#downloaders].some(({ worker }) => worker.isReady);
      const worker = observe(started, { reason, isWorking, pool: this }, dependencies.observer);
      const downloader = { worker, running: new Map(), idleSince: performance.now(), cpuTime: 0 };
      this.#downloaders.add(downloader);
      worker.ended.then(() => this.#downloaders.delete(downloader));
      return downloader;
    };
    this.#timer = setInterval(() => this.#check(), CHECK_INTERVAL).unref();
  }

  /** Starts a process, and waits until it is ready. */
  async warm(): Promise<void> {
    await this.#start('spare').worker.ready;
  }

  /** Downloads a source; see `downloadSource`. If the process exits, the download is retried. */
  readonly download: Download = async (url, { directory, limits, signal, account }) => {
    const args: DownloadRequest = { url, account, sourceBytes: limits.sourceBytes };
    const work: Work = { operation: 'download', arguments: args, outputs: ['source'] };
    const found = await this.#attempt(work, { directory, signal, account });
    return { ...(found as Omit<SourceFile, 'path'>), path: join(directory, 'source') };
  };

  /** Requests the validators of a source; see `createReadValidators`. */
  readonly validators: ReadValidators = async (url, { signal, account }) => {
    const found = await this.#ask('validators', url, { signal, account });
    return (found as { validators?: string }).validators;
  };

  /** Reads the facts about a source; see `createReadFacts`. */
  readonly facts: ReadFacts = async (url, { signal, account }) =>
    (await this.#ask('facts', url, { signal, account })) as SourceFacts;

  /** Looks up a host name for a page. A name server can make the reply expensive to read. */
  readonly resolve: Resolve = async (host, signal, account) => {
    const args: ResolveRequest = { host };
    const work: Work = { operation: 'resolve', arguments: args, outputs: [] };
    const context = { directory: this.#dependencies.temporary, signal, account };
    return ((await this.#attempt(work, context)) as { ipAddresses: readonly string[] }).ipAddresses;
  };

  #ask(operation: string, url: string, caller: { signal: AbortSignal; account: string }): Promise<unknown> {
    const args: UrlRequest = { url, account: caller.account };
    const work: Work = { operation, arguments: args, outputs: [] };
    return this.#attempt(work, { directory: this.#dependencies.temporary, ...caller });
  }

  async #attempt(
    work: Work,
    context: { directory: string; signal: AbortSignal; account: string },
  ): Promise<unknown> {
    for (let attempts = 1; ; attempts++) {
      try {
        return await this.#run(work, context);
      } catch (thrown) {
        if (!(thrown instanceof WorkerCrash)) throw thrown;
        this.#dependencies.log('download process exited', { cause: describe(thrown) }, 'warn');
        if (attempts === MAX_ATTEMPTS) throw ConversionError.from(thrown);
      }
    }
  }

  /** Kills all processes and their downloads. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    const workers = [...this.#downloaders].map(({ worker }) => worker);
    for (const worker of workers) worker.kill();
    await Promise.all(workers.map((worker) => worker.ended));
  }

  async #run(
    work: Work,
    { directory, signal, account }: { directory: string; signal: AbortSignal; account: string },
  ): Promise<unknown> {
    if (this.#closed) throw stoppingError();
    const downloader = this.#take(account);
    const { worker } = downloader;
    const download = async (stop: AbortSignal) => {
      const answer = worker.request(work, directory, {}, stop);
      let isAnswered = false;
      const release = () => {
        isAnswered = true;
        this.#release(downloader, account);
      };
      answer.then(release, release);
      const killLate = () => {
        if (!isAnswered && worker.isReady) worker.kill();
      };
      stop.addEventListener('abort', () => setTimeout(killLate, RESPONSE_TIMEOUT).unref(), { once: true });
      return untilAborted(stop, answer);
    };
    // The process itself times out the download, unless it hangs.
    return withTimeout(BUDGETS.whole + RESPONSE_TIMEOUT, signal, download, () =>
      downloadTimeoutError(BUDGETS.whole),
    );
  }

  #take(account: string): Downloader {
    const usable = this.#usable();
    const free = usable.filter(isFree);
    const downloader =
      usable.find(({ running }) => running.has(account)) ??
      usable.find(({ worker, running }) => worker.account === account && running.size === 0) ??
      free.find(({ worker }) => worker.isReady) ??
      free[0] ??
      (this.#mayStart() ? this.#start('demand') : leastUsed(usable));
    const { worker, running } = downloader;
    worker.account = account;
    running.set(account, (running.get(account) ?? 0) + 1);
    this.#keepSpare();
    return downloader;
  }

  /** Starts a process for the next account if it needs one. */
  #keepSpare(): void {
    if (this.#needsSpare()) {
      const start = startInTurn(() => (this.#needsSpare() ? this.#start('spare').worker : undefined));
      // The next download will retry.
      start.catch(() => {});
    }
  }

  #usable(): Downloader[] {
    return [...this.#downloaders].filter(({ worker }) => worker.usable);
  }

  #mayStart(): boolean {
    return this.#usable().length < this.#dependencies.max;
  }

  /** Whether the next account would have to wait for a process to start, and another process is allowed. */
  #needsSpare(): boolean {
    return !this.#closed && !this.#usable().some(isFree) && this.#mayStart();
  }

  #release(downloader: Downloader, account: string): void {
    const { running } = downloader;
    const left = running.get(account)! - 1;
    if (left === 0) running.delete(account);
    else running.set(account, left);
    downloader.idleSince = performance.now();
  }

  /** Kills processes that take too much memory or rest, except for one. */
  #check(): void {
    if (this.#downloaders.size > 0) this.#keepSpare();
    const now = performance.now();
    let idle = 0;
    for (const downloader of this.#downloaders) {
      const { worker, running, idleSince } = downloader;
      downloader.cpuTime = worker.cpuTime;
      const isIdle = running.size === 0;
      if (isIdle) idle += 1;
      const isExtra = isIdle && idle > 1 && now - idleSince > IDLE_TIME;
      if (isExtra || worker.memory > MAX_MEMORY) worker.kill();
    }
  }
}

/** Whether a process is idle, and no account is likely to use it again soon. */
function isFree({ worker, running, idleSince }: Downloader): boolean {
  return running.size === 0 && (worker.account === undefined || performance.now() - idleSince > KEPT_TIME);
}

/** Returns the process that has used the least processor time since the last check, an idle one if there is any. */
function leastUsed(usable: readonly Downloader[]): Downloader {
  const usageOf = ({ worker, cpuTime }: Downloader) => worker.cpuTime - cpuTime;
  const idle = usable.filter(({ running }) => running.size === 0);
  return (idle.length > 0 ? idle : usable).toSorted((a, b) => usageOf(a) - usageOf(b))[0]!;
}

function tlsEnvironment(): Record<string, string> {
  const values = TLS_VARIABLES.map((name) => [name, textSetting(name, undefined)] as const);
  return Object.fromEntries(values.filter((pair): pair is [string, string] => pair[1] !== undefined));
}
