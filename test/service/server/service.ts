import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createApiKey } from '../../../functions/platform/keys.ts';
import { textSetting } from '../../../functions/shared/settings/environment.ts';
import { COMPILE_CACHE } from '../../helpers/compile-cache.ts';
import { processesBelow } from '../../helpers/leftovers.ts';

/** A service as its callers see it. */
export interface ServiceUnderTest {
  /** Without a slash at its end. */
  readonly base: string;
  readonly apiKey: string;
  /** Stops it if the test started it, and returns the command lines of processes it left behind. */
  close(): Promise<string[]>;
}

interface Options {
  /** The `host:port` pairs of the sources' servers. */
  readonly sources: readonly string[];
  /** Environment variables, as an operator sets them. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Receives what the service writes to its log. */
  readonly log?: (text: string) => void;
}

const SCRIPT = fileURLToPath(new URL('process.ts', import.meta.url));
const STOP_TIMEOUT = 30_000;

/** Opens the service that `BASE_URL` and `API_KEY` name, or starts the one-machine deployment on a free port. */
export async function openService(options: Options): Promise<ServiceUnderTest> {
  const base = textSetting('SERVICE_URL', undefined);
  if (base === undefined) return startOwn(options);
  const apiKey = textSetting('API_KEY', undefined);
  if (apiKey === undefined) throw new Error('BASE_URL needs API_KEY beside it.');
  return { base: base.replace(/\/+$/, ''), apiKey, close: async () => [] };
}

/** Whether the test started the service itself. Some tests only apply to one machine. */
export const ownService = textSetting('SERVICE_URL', undefined) === undefined;

async function startOwn({ sources, settings = {}, log }: Options): Promise<ServiceUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), 'service-'));
  const apiKey = createApiKey();
  const child = fork(SCRIPT, {
    env: {
      PATH: textSetting('PATH', '/usr/bin:/bin'),
      HOME: directory,
      TMPDIR: directory,
      DATA_DIR: join(directory, 'data'),
      PORT: '0',
      API_KEY: apiKey,
      ALLOW_SOURCES: sources.join(','),
      ...COMPILE_CACHE,
      ...settings,
    },
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    // In a session of its own, as `npm start` does.
    detached: true,
  });
  let said = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4000);
    log?.(text);
  });
  const exit = once(child, 'exit');
  const [port] = (await Promise.race([
    once(child, 'message'),
    exit.then(() => Promise.reject(new Error(`The service did not start: ${said}`))),
  ])) as [number];

  return {
    base: `http://127.0.0.1:${port}`,
    apiKey,
    async close() {
      if (child.connected) child.disconnect();
      await Promise.race([exit, setTimeout(4 * STOP_TIMEOUT)]);
      const orphans = await leftBehind(directory);
      child.kill('SIGKILL');
      await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
      return orphans;
    },
  };
}

/** Processes that still use the service's temporary folder after it had time to stop. */
async function leftBehind(directory: string): Promise<string[]> {
  for (const end = Date.now() + STOP_TIMEOUT; Date.now() < end; await setTimeout(50)) {
    if (processesBelow(directory).length === 0) return [];
  }
  return processesBelow(directory).map(({ command }) => command);
}
