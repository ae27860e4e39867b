import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, realpathSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import {
  descendants,
  listChildren,
  ownMemory,
  processTree,
  readProcess,
  readStat,
} from '../../functions/engines/worker/linux/proc.ts';
import { createFairQueue } from '../../functions/shared/fair-queue.ts';
import { buildBase, buildFilter } from './kernel.ts';
import { buildRuntimeClient, type FunctionResponse, RuntimeApi } from './runtime.ts';

/** A function as it is deployed. */
export interface FunctionDefinition {
  readonly name: string;
  readonly code: string;
  readonly layers: ReadonlyArray<{ readonly name: string; readonly folder: string }>;
  /** MiB. */
  readonly memory: number;
  /** MiB of `/tmp`. */
  readonly temporary: number;
  /** Milliseconds. */
  readonly timeout: number;
  /** Reserved concurrency, above which Lambda refuses. */
  readonly reserved?: number | undefined;
  /** Whether each account gets its own execution environments. */
  readonly isolated?: boolean;
  readonly environment: Readonly<Record<string, string>>;
}

/** Where the parts of every sandbox come from. */
export interface Host {
  /** Folder of the base libraries. */
  readonly base: string;
  readonly node: string;
  /** Folder of AWS's runtime client. */
  readonly client: string;
  /** Program that sets Lambda's system call filter. */
  readonly filter: string;
  /** Receives what functions write to their log. */
  readonly log: (line: string) => void;
  /** Chooses where the Runtime API of the next sandbox listens; by default a free port of 127.0.0.1. */
  readonly runtimeApi?: () => { readonly host: string; readonly port: number };
  /** Whether each sandbox gets only the share of the processors that Lambda gives for its memory. */
  readonly processorShares?: boolean | undefined;
  /** Timeout of the init phase in milliseconds, for tests that cannot wait for Lambda's ten seconds. */
  readonly initTime?: number;
}

/** How a sandbox ended without a response from its function, in Lambda's terms. */
export class Ended extends Error {
  readonly errorType: string;

  constructor(errorType: string) {
    super(errorType);
    this.errorType = errorType;
  }
}

/** Namespaces of each sandbox. It shares the network of the process that starts it. */
export const NAMESPACES = [
  '--user',
  '--map-root-user',
  '--mount',
  '--pid',
  '--ipc',
  '--uts',
  '--fork',
  '--kill-child',
];

/** Lambda's timeout for the init phase in milliseconds, regardless of the function's timeout. */
const INIT_TIME = 10_000;

/** Limits how many start at the same time, because on Lambda none takes the processor of another. */
const starts = createFairQueue({ total: availableParallelism(), perAccount: availableParallelism() });

/** One execution environment: an empty root with one process in it, frozen while it has nothing to do. */
export class Sandbox {
  /** Resolves when the function waits for its first event. */
  readonly ready: Promise<void>;
  /** Highest MiB seen. */
  memory = 0;
  /** The only tenant it serves; `undefined` for a function without tenant isolation. */
  readonly account: string | undefined;
  /** It accepts no more events. */
  over = false;
  /** Milliseconds of CPU time until it was last frozen. */
  processor = 0;
  readonly #definition: FunctionDefinition;
  readonly #log: (line: string) => void;
  #api = new RuntimeApi();
  readonly #share: ProcessorShare | undefined;
  readonly #root = mkdtempSync(join(tmpdir(), 'sandbox-'));
  readonly #ended = Promise.withResolvers<never>();
  #child: ChildProcess | undefined;
  #watch: NodeJS.Timeout | undefined;

  constructor(definition: FunctionDefinition, host: Host, account?: string) {
    this.#definition = definition;
    this.account = account;
    this.#log = (line) => host.log(`${definition.name}: ${line}`);
    this.#ended.promise.catch(() => {});
    this.#share = host.processorShares ? createProcessorShare(definition.memory) : undefined;
    this.ready = starts.run(definition.name, () => this.#start(host));
  }

  /** Runs one event, and logs its start and end as Lambda does. Rejects with `Ended` if the sandbox ends. */
  async invoke(event: unknown, qualifier = 'live'): Promise<FunctionResponse> {
    const id = randomUUID();
    const started = performance.now();
    const report = (errorType?: string) => {
      const milliseconds = performance.now() - started;
      const { memory } = this.#definition;
      for (const line of platformLines({ id, milliseconds, memory, used: this.memory, errorType }))
        this.#log(line);
    };
    try {
      await this.ready;
      this.#log(`START RequestId: ${id} Version: 1`);
      const response = await this.#invoke(id, event, qualifier);
      report();
      return response;
    } catch (error) {
      if (error instanceof Ended) report(error.errorType);
      throw error;
    }
  }

  async #invoke(id: string, event: unknown, qualifier: string): Promise<FunctionResponse> {
    const { timeout } = this.#definition;
    signalTree(this.#pid, 'SIGCONT');
    this.#watch = setInterval(() => this.#checkMemory(), 250);
    const idle = new Promise<void>((resolve) => {
      this.#api.onIdle = resolve;
    });
    const timer = setTimeout(() => this.kill('Sandbox.Timedout'), timeout);
    try {
      const invocation = this.#api.invoke(event, {
        id,
        deadline: Date.now() + timeout,
        functionArn: `arn:aws:lambda:us-east-1:123456789012:function:${this.#definition.name}:${qualifier}`,
        account: this.account,
      });
      const response = await Promise.race([invocation, this.#ended.promise]);
      await Promise.race([idle, this.#ended.promise]);
      this.#freeze();
      return response;
    } finally {
      clearTimeout(timer);
      clearInterval(this.#watch);
    }
  }

  /** Address of its Runtime API, `host:port`. */
  get runtimeApi(): string {
    return this.#api.address;
  }

  /** Connections to its Runtime API by anything but the runtime. */
  get visitors(): number {
    return this.#api.visitors;
  }

  /** Whether its runtime exists and was not killed, which is reported later. */
  get hasRuntime(): boolean {
    const runtime = processTree(this.#pid).find((pid) =>
      readProcess(pid, 'cmdline').includes('/var/runtime/index.mjs'),
    );
    return runtime !== undefined && !isKilled(runtime);
  }

  /** Its first process, the ancestor of all others. */
  get root(): number | undefined {
    return this.#child?.pid;
  }

  /** Thaws it for a while without an event, so that work that was running when it was frozen can end. */
  async rest(milliseconds: number): Promise<void> {
    signalTree(this.#pid, 'SIGCONT');
    await pause(milliseconds);
    if (!this.over) this.#freeze();
  }

  kill(errorType: string): void {
    this.over = true;
    this.#ended.reject(new Ended(errorType));
    clearInterval(this.#watch);
    if (this.#child?.pid) signalTree(this.#child.pid, 'SIGKILL');
    this.#api.close();
  }

  get #pid(): number {
    return this.#child!.pid!;
  }

  async #start(host: Host): Promise<void> {
    const { initTime = INIT_TIME } = host;
    if (this.over) return this.#ended.promise;
    if (!(await this.#init(host, initTime))) {
      // Lambda then starts the function again, as part of its first event, and within the function's timeout.
      this.#log(`INIT_REPORT Init Duration: ${initTime} ms Phase: init Status: timeout`);
      this.#endInit();
      if (!(await this.#init(host, this.#definition.timeout))) this.kill('Sandbox.Timedout');
    }
    await Promise.race([this.#ended.promise, Promise.resolve()]);
    this.#freeze();
  }

  /** Ends the processes of an init phase, but not the sandbox. */
  #endInit(): void {
    const child = this.#child;
    this.#child = undefined;
    this.#api.close();
    this.#api = new RuntimeApi();
    if (child?.pid) signalTree(child.pid, 'SIGKILL');
  }

  /** Starts the function, and returns whether it asked for its first event in time. */
  async #init(host: Host, time: number): Promise<boolean> {
    const api = this.#api;
    const address = await api.listen(host.runtimeApi?.());
    const { code, layers, temporary } = this.#definition;
    const here = import.meta.dirname;
    const mounts = layers.map((layer) => `${layer.name}=${layer.folder}`);
    // The first process joins before it starts others.
    const joining = this.#share && ['sh', '-c', 'echo $$ > "$0"; exec "$@"', this.#share.members];
    const [command = '', ...args] = [
      ...(joining ?? []),
      ...['unshare', ...NAMESPACES, 'sh'],
      join(here, 'enter.sh'),
      this.#root,
      host.base,
      host.node,
      host.client,
      join(here, 'native-client.mjs'),
      host.filter,
      code,
      String(temporary),
      ...mounts,
    ];
    const child = spawn(command, args, {
      env: { ...lambdaEnvironment(this.#definition, address), ...this.#definition.environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    for (const input of [child.stdout, child.stderr])
      createInterface({ input }).on('line', (line) => {
        if (line !== '') this.#log(line);
      });
    child.once('exit', () => {
      if (this.#child !== child) return;
      this.kill('Runtime.ExitError');
      rmSync(this.#root, { recursive: true, force: true });
      this.#share?.close();
    });

    const idle = new Promise<true>((resolve) => {
      api.onIdle = () => resolve(true);
    });
    api.onGone = () => {
      if (this.#api === api) this.kill('Runtime.ExitError');
    };
    api.onInitError = (report) => {
      this.#log(`init failed: ${report}`);
      this.kill('Runtime.Unknown');
    };
    const late = new AbortController();
    const over = pause(time, false, { signal: late.signal }).catch(() => false);
    return Promise.race([idle, over, this.#ended.promise]).finally(() => late.abort());
  }

  #freeze(): void {
    this.#checkMemory();
    this.processor = processorOf(this.#pid);
    signalTree(this.#pid, 'SIGSTOP');
  }

  #checkMemory(): void {
    this.memory = highestMemory(this.#pid, this.memory);
    if (this.memory > this.#definition.memory) this.kill('Runtime.OutOfMemory');
  }
}

/** The variables that Lambda sets in addition to the function's own. */
function lambdaEnvironment({ name, memory }: FunctionDefinition, runtimeApi: string): Record<string, string> {
  return {
    AWS_LAMBDA_RUNTIME_API: runtimeApi,
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memory),
    AWS_LAMBDA_FUNCTION_VERSION: '1',
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: '2026/01/01/[1]0',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_REGION: 'us-east-1',
    AWS_DEFAULT_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'ASIAFUNCTION',
    AWS_SECRET_ACCESS_KEY: `secret-of-${name}`,
    AWS_SESSION_TOKEN: `token-of-${name}`,
    LAMBDA_TASK_ROOT: '/var/task',
    LAMBDA_RUNTIME_DIR: '/var/runtime',
    _HANDLER: 'index.handler',
    PATH: '/var/lang/bin:/usr/local/bin:/usr/bin/:/bin:/opt/bin',
    LD_LIBRARY_PATH:
      '/var/lang/lib:/lib64:/usr/lib64:/var/runtime:/var/runtime/lib:/var/task:/var/task/lib:/opt/lib',
    NODE_PATH: '/opt/nodejs/node24/node_modules:/opt/nodejs/node_modules:/var/runtime/node_modules',
    LANG: 'en_US.UTF-8',
    TZ: ':UTC',
  };
}

// The binary itself, because a sandbox mounts it and a link would be broken inside.
const NODE = realpathSync(join(import.meta.dirname, '../../node_modules/.bin/node'));

/** Builds the parts of every sandbox: base libraries, AWS's runtime client, Lambda's system call filter. */
export async function buildHost(log: (line: string) => void): Promise<Host> {
  const [base, client, filter] = [
    await buildBase(log),
    await buildRuntimeClient(log),
    await buildFilter(log),
  ];
  return { base, node: NODE, client, filter, log };
}

/** One event of a function, as Lambda reports its end. */
interface Report {
  readonly id: string;
  readonly milliseconds: number;
  /** MiB that the function has. */
  readonly memory: number;
  /** Highest MiB that it used. */
  readonly used: number;
  /** Why it ended without a response. */
  readonly errorType?: string | undefined;
}

/**
 * Returns the lines that Lambda adds to a function's log at the end of an event, in its log format `Text`. A function that
 * uses up its memory is killed by the kernel; see https://docs.aws.amazon.com/lambda/latest/dg/nodejs-logging.html and
 * https://docs.aws.amazon.com/lambda/latest/dg/troubleshooting-invocation.html.
 */
function platformLines({ id, milliseconds, memory, used, errorType }: Report): string[] {
  const fields = [
    `REPORT RequestId: ${id}`,
    `Duration: ${milliseconds.toFixed(2)} ms`,
    `Billed Duration: ${Math.ceil(milliseconds)} ms`,
    `Memory Size: ${memory} MB`,
    `Max Memory Used: ${Math.min(memory, Math.round(used))} MB`,
  ];
  const end = `END RequestId: ${id}`;
  const report = (...more: readonly string[]) => [...fields, ...more].join('\t');
  const exit = (reason: string) => [
    `RequestId: ${id} Error: Runtime exited with error: ${reason}`,
    'Runtime.ExitError',
  ];
  switch (errorType) {
    case undefined:
      return [end, report()];
    case 'Sandbox.Timedout': {
      const seconds = (milliseconds / 1000).toFixed(2);
      const line = `${new Date().toISOString()} ${id} Task timed out after ${seconds} seconds`;
      return [line, end, report('Status: timeout')];
    }
    case 'Runtime.OutOfMemory':
      return [...exit('signal: killed'), end, report('Status: error', `Error Type: ${errorType}`)];
    // Ended by the emulator while it was idle.
    case 'Runtime.Shutdown':
      return [];
    default:
      return [...exit('exit status 1'), end, report('Status: error', `Error Type: ${errorType}`)];
  }
}

/** How long a list of all processes is reused for measuring, in milliseconds. */
const LISTED = 200;
let listed = { at: Number.NEGATIVE_INFINITY, children: listChildren() };

/** Sends a signal to all processes of a tree, repeatedly until no new one appears. */
function signalTree(root: number, signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void {
  const seen = new Set<number>();
  for (let round = 0; round < 5; round++) {
    const fresh = processTree(root).filter((pid) => !seen.has(pid));
    if (fresh.length === 0) return;
    for (const pid of fresh) {
      seen.add(pid);
      try {
        process.kill(pid, signal);
      } catch {
        // It has just ended.
      }
    }
  }
}

/** Whether a process has been sent SIGKILL and still exists. */
function isKilled(pid: number): boolean {
  // SIGKILL is bit 8 of the pending signals, which are hexadecimal.
  const [, digit = '0'] = /^SigPnd:.*([0-9a-f])[0-9a-f]{2}$/m.exec(readProcess(pid, 'status')) ?? [];
  return Number.parseInt(digit, 16) % 2 === 1;
}

/** MiB that a process, alone or with its descendants, counts against a function's memory. */
export function memoryOf(root: number, which: 'all' | 'alone' = 'all'): number {
  return ownMemory(which === 'all' ? processTree(root) : [root]);
}

/**
 * Returns the MiB that a process and its descendants count, or `known` if they count less. Dozens of sandboxes are measured
 * several times a second, so all of them use one list of processes, and the exact figure, which takes milliseconds, is read only
 * if it could be higher.
 */
function highestMemory(root: number, known: number): number {
  const now = performance.now();
  if (now - listed.at > LISTED) listed = { at: now, children: listChildren() };
  const pids = descendants([root], listed.children);
  const most = pids.reduce((sum, pid) => sum + residentMemory(pid), 0);
  return most > known ? Math.max(known, ownMemory(pids)) : known;
}

/** MiB of anonymous and shared memory, with pages that several processes share counted in each. */
function residentMemory(pid: number): number {
  const text = readProcess(pid, 'status');
  const kibibytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);
  return (kibibytes('RssAnon') + kibibytes('RssShmem')) / 1024;
}

/** Returns the CPU milliseconds of a process tree so far, including processes that have ended. */
function processorOf(root: number): number {
  return processTree(root).reduce((sum, pid) => sum + readStat(pid).cpuTime, 0);
}

const CGROUPS = '/sys/fs/cgroup';
/** Microseconds over which the kernel measures a share. */
const PERIOD = 100_000;
/** MiB for which Lambda gives a function one processor. */
const MEMORY_OF_ONE = 1769;
/** Attempts to remove a group, whose last processes may still be ending, and milliseconds between them. */
const REMOVALS = 20;
const PAUSE = 100;

/** A control group whose processes together get Lambda's share of the processors for a function's memory. */
interface ProcessorShare {
  /** The file to which a process writes its ID to join. */
  readonly members: string;
  /** Removes the group once its processes have ended. */
  close(): void;
}

/** Returns a share for a function with `memory` MiB. @throws Error if this machine does not let this user limit processors. */
function createProcessorShare(memory: number): ProcessorShare {
  const quota = Math.round((PERIOD * memory) / MEMORY_OF_ONE);
  const isFirstVersion = existsSync(join(CGROUPS, 'cpu/cpu.cfs_quota_us'));
  let group = '';
  try {
    // Not named by the process ID, which is the same in every namespace.
    group = mkdtempSync(join(CGROUPS, isFirstVersion ? 'cpu' : '', 'lambda-'));
    if (isFirstVersion) {
      writeFileSync(join(group, 'cpu.cfs_period_us'), String(PERIOD));
      writeFileSync(join(group, 'cpu.cfs_quota_us'), String(quota));
    } else writeFileSync(join(group, 'cpu.max'), `${quota} ${PERIOD}`);
  } catch (cause) {
    remove(group);
    throw new Error('This user may not limit the processors of a control group.', { cause });
  }
  return { members: join(group, 'cgroup.procs'), close: () => remove(group) };
}

/** Whether shares work here. */
export function hasProcessorShares(): boolean {
  try {
    createProcessorShare(MEMORY_OF_ONE).close();
    return true;
  } catch {
    return false;
  }
}

function remove(group: string, attempt = 1): void {
  try {
    rmdirSync(group);
  } catch {
    // It does not exist, or a process has not ended yet.
  }
  if (existsSync(group) && attempt < REMOVALS) setTimeout(() => remove(group, attempt + 1), PAUSE);
}
