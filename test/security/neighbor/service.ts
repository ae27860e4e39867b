import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openStores } from '../../../infra/local/stores.ts';
import { COMPILE_CACHE } from '../../helpers/compile-cache.ts';
import { type Canary, createCanary } from '../checks/canary.ts';
import { type AttackedService, callersOf } from '../deployment/deployment.ts';
import { type Heartbeat, prepareHeartbeat } from './heartbeat.ts';

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

const MAIN = fileURLToPath(new URL('./server-main.ts', import.meta.url));
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
  const command = [...(as?.command ?? []), process.execPath, ...NODE_OPTIONS, MAIN];
  const limited = ['sh', '-c', `ulimit -n ${descriptors}; exec "$@"`, 'sh', ...command];
  const [program, ...args] = descriptors === undefined ? command : limited;
  const child = spawn(program!, args, {
    env: {
      PATH: process.env.PATH,
      HOME: temporary,
      TMPDIR: given ?? temporary,
      PORT: '0',
      DATA_DIR: dataDirectory,
      DNS_SERVERS: control.dns,
      ALLOW_SOURCES: [
        `${HEARTBEAT_HOST}:${control.port}`,
        ...sources.map((port) => `127.0.0.1:${port}`),
      ].join(','),
      CONCURRENCY: '2',
      CONVERSION_TIME: '60',
      // As in the container, whose image sets it.
      ...(process.env.SANDBOX && { SANDBOX: process.env.SANDBOX }),
      WARM: isWarm ? 'yes' : 'no',
      ...COMPILE_CACHE,
      ...environment,
    },
    stdio: ['ignore', 'pipe', process.env.SHOW_LOG ? 'inherit' : 'pipe', 'ipc'],
    // In the session of its callers, and with it the engines, as in a container. Where Linux gives every session the same share
    // of the processor (see `launch.c`), callers would wait for engines of another session, but they are elsewhere in reality.
  });
  child.stderr?.on('data', (lines: Buffer) => canary?.inspect('log', lines));
  const ended = once(child, 'exit');
  try {
    const [line] = (await Promise.race([
      once(child.stdout!, 'data'),
      ended.then(() => Promise.reject(new Error('The service did not start.'))),
    ])) as [Buffer];
    const port = Number(line.toString());
    const base = `http://127.0.0.1:${port}`;
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
        heap: async () => {
          child.send('heap');
          const [heap] = (await once(child, 'message')) as [number];
          return heap;
        },
      });
    } finally {
      heartbeat.stop();
    }
  } finally {
    await stop(child, ended);
    controlProcess.kill('SIGKILL');
    if (canary) await inspectFiles(dataDirectory, canary);
    await rm(temporary, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** Ends the service as an operator does, or at once if that takes too long. */
async function stop(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  child.kill('SIGTERM');
  const isStopping = child.exitCode === null && child.signalCode === null;
  if (isStopping) await Promise.race([ended, setTimeout(STOP_TIME, undefined, { ref: false })]);
  child.kill('SIGKILL');
  if (isStopping) await ended;
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
