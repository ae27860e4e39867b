import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openAccounts } from '../../../infra/local/accounts.ts';
import { createCanary } from '../checks/canary.ts';
import { type AttackedService, callersOf } from '../deployment/deployment.ts';
import { type Heartbeat, startHeartbeat } from './heartbeat.ts';

type Caller = Pick<AttackedService, 'ask' | 'fetchResult' | 'apiKey'>;

/** A service with two accounts: one attacks, the other one uses it normally. */
export interface SharedService {
  readonly port: number;
  readonly process: ChildProcess;
  readonly temporary: string;
  readonly attacker: Caller;
  readonly neighbour: Caller;
  readonly heartbeat: Heartbeat;
  /** Maximum resident MiB of the server's own process so far. */
  peakMemory(): number;
  /** Milliseconds of CPU time that the server's main thread has used. */
  mainThreadTime(): number;
}

export interface SharedServiceOptions {
  /** Loopback ports of sources. */
  readonly sources: readonly number[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Value for `ulimit -n`. */
  readonly descriptors?: number;
}

const MAIN = fileURLToPath(new URL('./server-main.ts', import.meta.url));
const CONTROL = fileURLToPath(new URL('./control-main.ts', import.meta.url));
/** Host name that resolves to the source of the heartbeat. */
const HEARTBEAT_HOST = 'ok.example';

/** Starts the service in its own process, with a name server that knows only certain names, and a heartbeat. */
export async function withSharedService<Result>(
  { sources, environment = {}, descriptors }: SharedServiceOptions,
  use: (service: SharedService) => Promise<Result>,
): Promise<Result> {
  const temporary = await mkdtemp(join(tmpdir(), 'shared-'));
  const dataDirectory = join(temporary, 'data');
  const accounts = openAccounts(dataDirectory);
  const keys = [
    await accounts.keys.create({ name: 'attacker' }),
    await accounts.keys.create({ name: 'neighbour' }),
  ];
  accounts.close();
  const controlProcess = spawn(process.execPath, [CONTROL, HEARTBEAT_HOST], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = (await once(controlProcess.stdout, 'data')) as [Buffer];
  const control = JSON.parse(said.toString()) as { dns: string; port: number };
  const command = [process.execPath, MAIN];
  const limited = ['sh', '-c', `ulimit -n ${descriptors}; exec "$@"`, 'sh', ...command];
  const [program, ...args] = descriptors === undefined ? command : limited;
  const child = spawn(program!, args, {
    env: {
      PATH: process.env.PATH,
      HOME: temporary,
      TMPDIR: temporary,
      PORT: '0',
      DATA_DIR: dataDirectory,
      DNS_SERVERS: control.dns,
      ALLOW_SOURCES: [
        `${HEARTBEAT_HOST}:${control.port}`,
        ...sources.map((port) => `127.0.0.1:${port}`),
      ].join(','),
      CONCURRENCY: '2',
      CONVERSION_TIME: '60',
      ...environment,
    },
    stdio: ['ignore', 'pipe', process.env.SHOW_LOG ? 'inherit' : 'ignore'],
  });
  const ended = once(child, 'exit');
  try {
    const [line] = (await Promise.race([
      once(child.stdout!, 'data'),
      ended.then(() => Promise.reject(new Error('The service did not start.'))),
    ])) as [Buffer];
    const port = Number(line.toString());
    const base = `http://127.0.0.1:${port}`;
    const [attacker, neighbour] = keys.map(({ apiKey }) => ({
      ...callersOf(base, apiKey, createCanary()),
      apiKey,
    }));
    const heartbeat = startHeartbeat(base, neighbour!.apiKey, `${HEARTBEAT_HOST}:${control.port}`);
    try {
      return await use({
        ...{ port, process: child, temporary, attacker: attacker!, neighbour: neighbour!, heartbeat },
        peakMemory: () => statusNumber(child.pid!, 'VmHWM') / 1024,
        mainThreadTime: () => threadTime(child.pid!),
      });
    } finally {
      heartbeat.stop();
    }
  } finally {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await ended;
    controlProcess.kill('SIGKILL');
    await rm(temporary, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
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
