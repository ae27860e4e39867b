import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createApiKey } from '../../functions/platform/keys.ts';
import { textSetting } from '../../functions/shared/settings/environment.ts';
import { COMPILE_CACHE, processesBelow } from '../helpers/processes.ts';

/** Milliseconds of one conversion's steps, from the service's log. */
export interface Steps {
  readonly tool: string;
  readonly download?: number;
  readonly convert: number;
  readonly deliver: number;
}

interface Start {
  /** Environment variables, as an operator sets them, and those of `service-main.ts`. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Folder for everything of the service, which is kept; a new one, which is deleted, if absent. */
  readonly directory?: string;
  /** Precedes the command of the service. */
  readonly command?: readonly string[];
  /** Options of Node.js. */
  readonly nodeOptions?: readonly string[];
  /** Whether it gets a session of its own, as by `npm start`. */
  readonly detached?: boolean;
  /** Receives what the service writes to its log. */
  readonly log?: (text: string) => void;
  /** Milliseconds until it is killed if it does not stop. */
  readonly stopTime?: number;
}

/** A service of one machine in a process of its own. */
export interface OwnService {
  readonly base: string;
  readonly port: number;
  readonly directory: string;
  readonly process: ChildProcess;
  /** The steps of the conversions since the last call. The first call starts the recording. */
  steps(): Promise<Steps[]>;
  /** MiB that its heap holds without garbage. */
  heap(): Promise<number>;
  /** Stops it as an operator does. Returns the command lines of processes that it left behind. */
  close(): Promise<string[]>;
}

const MAIN = join(import.meta.dirname, 'service-main.ts');
const LEFTOVER_TIME = 30_000;

/** Starts the service on a free port. */
export async function startOwnService({
  environment = {},
  directory: given,
  command = [],
  nodeOptions = [],
  detached = false,
  log,
  stopTime = 120_000,
}: Start = {}): Promise<OwnService> {
  const directory = given ?? (await mkdtemp(join(tmpdir(), 'service-')));
  const [program, ...args] = [...command, process.execPath, ...nodeOptions, MAIN];
  const child = spawn(program!, args, {
    env: {
      PATH: textSetting('PATH', '/usr/bin:/bin'),
      HOME: directory,
      TMPDIR: directory,
      DATA_DIR: join(directory, 'data'),
      PORT: '0',
      ...COMPILE_CACHE,
      ...environment,
    },
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    detached,
  });
  let said = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4000);
    log?.(text);
  });
  const exit = once(child, 'exit');
  async function answer<Message>(): Promise<Message> {
    const ended = exit.then(() => Promise.reject(new Error(`The service has ended: ${said}`)));
    const [message] = (await Promise.race([once(child, 'message'), ended])) as [Message];
    return message;
  }
  const { port } = await answer<{ port: number }>();
  return {
    base: `http://127.0.0.1:${port}`,
    port,
    directory,
    process: child,
    async steps() {
      child.send('steps');
      return (await answer<{ steps: Steps[] }>()).steps;
    },
    async heap() {
      child.send('heap');
      return (await answer<{ heap: number }>()).heap;
    },
    async close() {
      child.kill('SIGTERM');
      await Promise.race([exit, setTimeout(stopTime, undefined, { ref: false })]);
      const orphans = await leftBehind(directory);
      child.kill('SIGKILL');
      await exit;
      if (given === undefined)
        await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
      return orphans;
    },
  };
}

/** Processes that still use the service's temporary folder after it had time to stop. */
async function leftBehind(directory: string): Promise<string[]> {
  for (const end = Date.now() + LEFTOVER_TIME; Date.now() < end; await setTimeout(50)) {
    if (processesBelow(directory).length === 0) return [];
  }
  return processesBelow(directory).map(({ command }) => command);
}

/** A service as its callers see it. */
export interface ServiceUnderTest {
  /** Without a slash at its end. */
  readonly base: string;
  readonly apiKey: string;
  /** Stops it if the test started it, and returns the command lines of processes it left behind. */
  close(): Promise<string[]>;
}

/** Whether the test started the service itself. Some tests only apply to one machine. */
export const ownService = textSetting('SERVICE_URL', undefined) === undefined;

/** Opens the service that `BASE_URL` and `API_KEY` name, or starts the one-machine deployment with the sources of these servers. */
export async function openService({
  sources,
  settings = {},
  log,
}: {
  /** The `host:port` pairs of the sources' servers. */
  readonly sources: readonly string[];
  readonly settings?: Readonly<Record<string, string>>;
  readonly log?: (text: string) => void;
}): Promise<ServiceUnderTest> {
  const base = textSetting('SERVICE_URL', undefined);
  if (base !== undefined) {
    const apiKey = textSetting('API_KEY', undefined);
    if (apiKey === undefined) throw new Error('BASE_URL needs API_KEY beside it.');
    return { base: base.replace(/\/+$/, ''), apiKey, close: async () => [] };
  }
  const apiKey = createApiKey();
  const environment = { API_KEY: apiKey, ALLOW_SOURCES: sources.join(','), TEST_SAMPLES: 'yes', ...settings };
  const service = await startOwnService({ environment, detached: true, ...(log && { log }) });
  return { base: service.base, apiKey, close: service.close };
}
