import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { openStores } from '../../../infra/local/stores.ts';
import { startOwnService } from '../../lab/service.ts';
import { type Canary, createCanary } from '../checks.ts';
import { type AttackedService, callersOf } from '../deployment/deployment.ts';
import type { Effort, Reached, Row } from '../row.ts';

type Caller = Pick<AttackedService, 'ask' | 'fetchResult' | 'apiKey'>;

/** A service with two accounts: one attacks, the other one uses it normally. */
export interface SharedService {
  readonly port: number;
  readonly process: ChildProcess;
  readonly temporary: string;
  readonly attacker: Caller;
  /** Four more hostile accounts. */
  readonly others: readonly Caller[];
  readonly neighbor: Caller;
  readonly heartbeat: Heartbeat;
  /** Maximum resident MiB of the server's own process so far. */
  peakMemory(): number;
  /** CPU time of the server's main thread in milliseconds. */
  mainThreadTime(): number;
  /** MiB that the server's own heap holds without garbage. */
  heap(): Promise<number>;
}

export interface SharedServiceOptions {
  /** Loopback ports of sources. */
  readonly sources: readonly number[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Value for `ulimit -n`. */
  readonly descriptors?: number;
  /** Starts the server as another user: the command that precedes its own, and the owner of its files. */
  readonly as?: { readonly command: readonly string[]; readonly user: number };
  /** Whether engines start before the first request. */
  readonly isWarm?: boolean;
  /** Folder for the server's temporary files; a new one, which is deleted, if absent. */
  readonly temporary?: string;
  /** Sees the logs, the keys and what the service leaves behind. */
  readonly canary?: Canary;
}

const CONTROL = fileURLToPath(new URL('./control-main.ts', import.meta.url));
const { NODE_OPTIONS } = await import(join(import.meta.dirname, '../../../infra/local/node-options.mjs'));
/** Timeout for a stop in milliseconds. A service that was attacked may still have conversions in progress. */
const STOP_TIME = 20_000;
/** Host name that resolves to the source of the heartbeat. */
const HEARTBEAT_HOST = 'ok.example';

/** Starts the service in its own process, with a name server that knows only certain names, and a heartbeat. */
export async function withSharedService<Result>(
  {
    sources,
    environment = {},
    descriptors,
    as,
    isWarm = true,
    temporary: given,
    canary,
  }: SharedServiceOptions,
  use: (service: SharedService) => Promise<Result>,
): Promise<Result> {
  const temporary = await mkdtemp(join(tmpdir(), 'shared-'));
  const dataDirectory = join(temporary, 'data');
  const stores = openStores(dataDirectory);
  const keys = [];
  for (const name of ['attacker', 'neighbor', 'other', 'other', 'other', 'other'])
    keys.push(await stores.keys.create({ name }));
  stores.close();
  const controlProcess = spawn(process.execPath, [CONTROL, HEARTBEAT_HOST], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [said] = (await once(controlProcess.stdout, 'data')) as [Buffer];
  const control = JSON.parse(said.toString()) as { dns: string; port: number };
  if (as) execFileSync('chown', ['-R', `${as.user}`, temporary]);
  // In the session of its callers, and with it the engines, as in a container. Where Linux gives every session the same share
  // of the processor (see `launch.c`), callers would wait for engines of another session, but they are elsewhere in reality.
  const service = await startOwnService({
    directory: temporary,
    command: [
      ...(descriptors === undefined ? [] : ['sh', '-c', `ulimit -n ${descriptors}; exec "$@"`, 'sh']),
      ...(as?.command ?? []),
    ],
    nodeOptions: NODE_OPTIONS,
    stopTime: STOP_TIME,
    environment: {
      TMPDIR: given ?? temporary,
      DNS_SERVERS: control.dns,
      ALLOW_SOURCES: [
        `${HEARTBEAT_HOST}:${control.port}`,
        ...sources.map((port) => `127.0.0.1:${port}`),
      ].join(','),
      CONCURRENCY: '2',
      CONVERSION_TIME: '60',
      // As in the container, whose image sets it.
      ...(process.env.SANDBOX && { SANDBOX: process.env.SANDBOX }),
      ...(isWarm && { TEST_WARM: 'yes' }),
      TEST_KEEP_RUNNING: 'yes',
      ...environment,
    },
    log: (text) => {
      canary?.inspect('log', text);
      if (process.env.SHOW_LOG) process.stderr.write(text);
    },
  });
  const { port, base, heap, process: child } = service;
  const [attacker, neighbor, ...others] = keys.map(({ apiKey }) => ({
    ...callersOf(base, apiKey, canary ?? createCanary()),
    apiKey,
  }));
  const heartbeat = prepareHeartbeat(base, neighbor!.apiKey, `${HEARTBEAT_HOST}:${control.port}`);
  try {
    return await use({
      port,
      process: child,
      temporary,
      attacker: attacker!,
      others,
      neighbor: neighbor!,
      heartbeat,
      peakMemory: () => statusNumber(child.pid!, 'VmHWM') / 1024,
      mainThreadTime: () => threadTime(child.pid!),
      heap,
    });
  } finally {
    heartbeat.stop();
    await service.close();
    controlProcess.kill('SIGKILL');
    if (canary) await inspectFiles(dataDirectory, canary);
    await rm(temporary, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

async function inspectFiles(directory: string, canary: Canary): Promise<void> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    canary.inspect(`name of the file ${entry.name}`, entry.name);
    if (entry.isFile()) canary.inspect(`the file ${entry.name}`, await readFile(path));
  }
}

function statusNumber(pid: number, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
}

/** The main thread has the ID of the process. A tick is 10 ms. */
function threadTime(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/** A request of a well-behaved account. */
interface Beat {
  readonly milliseconds: number;
  /** Latency of an idle control server during the request, in milliseconds. It is due to the machine. */
  readonly control: number;
  /** Maximum milliseconds for which the host of this virtual machine gave a core to others. */
  readonly stolen: number;
  /** Code of its response, `SOURCE_STATUS` for the missing source. */
  readonly code: string;
}

/** Requests of a well-behaved account while another one attacks. */
interface Heartbeat {
  /** The requests since the last reset, in their order. */
  readonly beats: readonly Beat[];
  /** Waits for enough requests to judge. On a busy machine, a whole attack may take less time. */
  settle(): Promise<void>;
  /** Starts the requests, or discards previous ones, because the first requests of a service are slow. */
  reset(): Promise<void>;
  stop(): void;
}

const HEARTBEAT = fileURLToPath(new URL('./heartbeat-main.ts', import.meta.url));
const WARM_BEATS = 10;
/** Minimum number of requests during an attack. */
const MIN_BEATS = 5;
const LOOK_INTERVAL = 50;

/** Returns by how many milliseconds a request took longer than both others. */
export function delayOf({ milliseconds, control, stolen }: Beat): number {
  return milliseconds - Math.max(control, stolen);
}

/** Prepares requests to a service. `host` responds with status 404. */
function prepareHeartbeat(base: string, apiKey: string, host: string): Heartbeat {
  let child: ChildProcess | undefined;
  let beats: Beat[] = [];
  const start = () => {
    child = spawn(process.execPath, [HEARTBEAT, base, apiKey, host], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    createInterface({ input: child.stdout! }).on('line', (line) => beats.push(JSON.parse(line) as Beat));
  };
  const reach = async (count: number) => {
    while (beats.length < count && child?.exitCode === null) await setTimeout(LOOK_INTERVAL);
  };
  return {
    get beats() {
      return beats;
    },
    settle: () => reach(MIN_BEATS),
    async reset() {
      if (!child) start();
      await reach(beats.length + WARM_BEATS);
      beats = [];
    },
    stop: () => void child?.kill('SIGKILL'),
  };
}

/** Effect of an attack on the other account and on the server's own process. */
export interface Verdict {
  readonly figure: string;
  readonly failures: readonly string[];
  /** Why the run does not show that the other account was served in time, although nothing failed. */
  readonly unproven?: string;
}

/** Maximum delay of another account, in milliseconds. */
export const MAX_DELAY = 250;
/** Maximum MiB of the server's own process. */
export const MAX_MEMORY = 300;
/** Milliseconds of the main thread of CPU time in a second without requests. */
const MAX_IDLE = 200;
/** Seconds after which the main thread must be idle. */
const CALM_TIME = 30;

/**
 * Judges the requests of the other account. One that took longer than the target is a failure if the service delayed it. Otherwise the
 * machine was too busy to show anything.
 */
export function judgeBeats(beats: readonly Beat[]): Verdict {
  const sorted = beats.toSorted((a, b) => a.milliseconds - b.milliseconds);
  const rounded = (beat: Beat | undefined, key: 'milliseconds' | 'control' | 'stolen') =>
    Math.round(beat?.[key] ?? 0);
  const slowest = sorted.at(-1);
  const [worst, control, stolen] = (['milliseconds', 'control', 'stolen'] as const).map((key) =>
    rounded(slowest, key),
  ) as [number, number, number];
  const delay = Math.round(Math.max(0, ...beats.map(delayOf)));
  const failed = beats.filter(({ code }) => code !== 'SOURCE_STATUS');
  const failures = [
    ...(delay > MAX_DELAY
      ? [`the other account waited ${delay} ms while an idle server answered (at most ${worst} ms)`]
      : []),
    ...(failed.length > 0
      ? [`${failed.length} requests of the other account failed: ${failed[0]!.code}`]
      : []),
    ...(beats.length < MIN_BEATS ? [`only ${beats.length} requests of the other account`] : []),
  ];
  const median = rounded(sorted[sorted.length >> 1], 'milliseconds');
  return {
    figure: `${worst} ms (median ${median}, ${beats.length} beats, idle server meanwhile ${control} ms, stolen ${stolen} ms)`,
    failures,
    ...(worst > MAX_DELAY &&
      failures.length === 0 && {
        unproven: `a request of the second account took ${worst} ms on a busy machine, where an idle server took ${control} ms, and whose host stole a core for ${stolen} ms`,
      }),
  };
}

/** Judges a service at the end of an attack: the other account, memory, and CPU after all callers have disconnected. */
export async function judge(service: SharedService): Promise<Verdict> {
  await service.heartbeat.settle();
  const verdict = judgeBeats(service.heartbeat.beats);
  service.heartbeat.stop();
  const idle = await idleTime(service);
  const peak = Math.round(service.peakMemory());
  return {
    ...verdict,
    figure: `${verdict.figure}; server ${peak} MiB, CPU ${service.mainThreadTime()} ms, then ${idle} ms/s`,
    failures: [
      ...verdict.failures,
      ...(idle > MAX_IDLE ? [`the main thread used ${idle} ms of a second without callers`] : []),
      ...(peak > MAX_MEMORY ? [`the server took ${peak} MiB`] : []),
    ],
  };
}

/** CPU milliseconds of the main thread in one second, once it is idle. */
async function idleTime(service: SharedService): Promise<number> {
  let used = 0;
  for (let second = 0; second < CALM_TIME; second += 1) {
    const before = service.mainThreadTime();
    await setTimeout(1000);
    used = service.mainThreadTime() - before;
    if (used <= MAX_IDLE) break;
  }
  return used;
}

/** Runs a row while a second account uses every service that it attacks. */
export async function runRow(row: Pick<Row, 'run'>, effort: Effort): Promise<Reached> {
  const verdicts: Verdict[] = [];
  const reached: Reached = await row.run(watched(effort, verdicts)).catch((thrown: unknown) => ({
    figure: 'aborted',
    failures: [inspect(thrown, { depth: 4 })],
  }));
  if (verdicts.length === 0) return reached;
  const unproven = [reached, ...verdicts].flatMap(({ unproven: reason }) => reason ?? []);
  return {
    ...reached,
    failures: [...reached.failures, ...verdicts.flatMap(({ failures }) => failures)],
    ...(unproven.length > 0 && { unproven: unproven.join('; ') }),
    notes: [...verdicts.map(({ figure }) => `second account: ${figure}`), ...(reached.notes ?? [])],
  };
}

function watched(effort: Effort, verdicts: Verdict[]): Effort {
  // The short extent measures no times.
  if (effort.extent === 'short') return effort;
  const { deployment } = effort;
  const report = (verdict: Verdict) => void verdicts.push(verdict);
  const withService: typeof deployment.withService = (settings, use) =>
    deployment.withService({ ...settings, report }, use);
  return { ...effort, deployment: { ...deployment, withService } };
}
