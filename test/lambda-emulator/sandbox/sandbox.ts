import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { processTree, readProcess } from '../../../functions/engines/worker/linux/proc.ts';
import { createFairQueue } from '../../../functions/shared/fair-queue.ts';
import { type FunctionResponse, RuntimeApi } from '../runtime/api.ts';
import { platformLines } from './platform-lines.ts';
import { highestMemory, isKilled, processorOf, signalTree } from './process-tree.ts';
import { createProcessorShare, type ProcessorShare } from './processor-share.ts';

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
      join(here, '../kernel/enter.sh'),
      this.#root,
      host.base,
      host.node,
      host.client,
      join(here, '../runtime/native-client.mjs'),
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
