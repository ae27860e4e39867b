import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMPILE_CACHE } from '../../helpers/processes.ts';

const ROOT = join(import.meta.dirname, '../../..');
const { NODE_OPTIONS } = await import(join(ROOT, 'infra/local/node-options.mjs'));
export const API_KEY = 'the-operators-own-key';

export interface Server {
  readonly pid: number;
  readonly base: string;
  /** Directory that holds everything of the server, `data` and its temporary files included. */
  readonly directory: string;
  /** Output so far. */
  readonly log: () => string;
  ask(query: Readonly<Record<string, string>>): Promise<Response>;
  /** Sends SIGTERM. */
  stop(): void;
  /** Its exit code and signal. */
  readonly ended: Promise<unknown[]>;
  /** Ends it if it still runs, and removes its directory. */
  close(): Promise<void>;
}

/** Starts the server as an operator does. `command` starts a program, given as its arguments, in another way. */
export async function startServer({
  root = ROOT,
  settings = {},
  command = () => [],
  ready = 'outfile=letter.pdf"',
}: {
  readonly root?: string;
  readonly settings?: Readonly<Record<string, string>>;
  readonly command?: (directory: string) => readonly string[];
  /** Text that it prints when it is ready. */
  readonly ready?: string;
} = {}): Promise<Server> {
  const directory = await mkdtemp(join(tmpdir(), 'server-'));
  const [program, ...args] = [
    ...command(directory),
    process.execPath,
    ...NODE_OPTIONS,
    join(root, 'infra/local/main.ts'),
  ];
  const env = {
    PATH: '/usr/bin:/bin:/usr/sbin:/sbin',
    HOME: directory,
    TMPDIR: directory,
    DATA_DIR: join(directory, 'data'),
    PORT: '0',
    API_KEY,
    ...COMPILE_CACHE,
    ...settings,
  };
  // In a session of its own, and until this process ends, as by `npm start`.
  const child = spawn(program!, args, { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'], detached: true });
  let written = '';
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (text: string) => (written += text));
  const ended = once(child, 'exit');
  while (!written.includes(ready)) {
    await Promise.race([
      once(child.stderr!, 'data'),
      ended.then(() => Promise.reject(new Error(`The server did not start: ${written}`))),
    ]);
  }
  const base = /http:\/\/localhost:\d+/.exec(written)![0];
  return {
    pid: child.pid!,
    base,
    directory,
    log: () => written,
    ask: (query) => fetch(`${base}/api/?${new URLSearchParams({ apikey: API_KEY, ...query })}`),
    stop: () => child.kill('SIGTERM'),
    ended,
    async close() {
      child.kill('SIGKILL');
      await ended;
      await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    },
  };
}
