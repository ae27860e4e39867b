import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Milliseconds of one conversion's steps, from the tool's log. */
export interface Steps {
  readonly tool: string;
  readonly download?: number;
  readonly convert: number;
  readonly deliver: number;
}

/** One call of the service: a tool, its source, and options as in the query. */
export interface Call {
  readonly app: string;
  readonly infile: string;
  readonly outfile: string;
  readonly options?: Readonly<Record<string, string | number | readonly string[]>>;
}

/** Who calls, and until when. */
export interface Caller {
  /** Number of the account, below `ACCOUNTS`. 0 is the usual one. */
  readonly account?: number;
  readonly signal?: AbortSignal;
}

export interface Service {
  readonly pid: number;
  /** Milliseconds from the start of the process until it accepts requests. */
  readonly startTime: number;
  /** Converts and returns the milliseconds from sending the request to receiving the whole response. */
  convert(call: Call, caller?: Caller): Promise<number>;
  /** Converts and returns the bytes of the result. */
  fetch(call: Call): Promise<Buffer>;
  /** The steps of the conversions since the last call. */
  steps(): Promise<Steps[]>;
  close(): Promise<void>;
}

/** Number of accounts that have a key. */
export const ACCOUNTS = 20;

const SCRIPT = fileURLToPath(new URL('./process.ts', import.meta.url));

/** Starts the one-machine deployment in a fresh process with an empty temporary folder. */
export async function startOwnService(sourceHost: string): Promise<Service> {
  const directory = await mkdtemp(join(tmpdir(), 'docmill-bench-'));
  const started = performance.now();
  const child = fork(SCRIPT, [directory, sourceHost], {
    env: { ...process.env, TMPDIR: directory },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  let said = '';
  child.on('message', (message: { said?: string }) => (said = message.said ?? said));
  const { base, apiKeys } = await firstWith<{ base: string; apiKeys: string[] }>(child, 'base');
  const startTime = performance.now() - started;
  const agent = new Agent({ keepAlive: true });

  async function call({ app, infile, outfile, options = {} }: Call, { account = 0, signal }: Caller = {}) {
    const query = new URLSearchParams({ apikey: apiKeys[account]!, app, infile, outfile });
    for (const [name, value] of Object.entries(options))
      for (const each of [value].flat()) query.append(name, String(each));
    const sent = performance.now();
    const answer = (await read(`${base}/api/?${query}`, agent, signal)).toString();
    const milliseconds = performance.now() - sent;
    const address = /^\[Output\] (\S+)<br>/.exec(answer)?.[1];
    if (address === undefined) throw new Error(`${app} ${infile}: ${answer.slice(0, 300)} ${said}`);
    return { milliseconds, address };
  }

  return {
    pid: child.pid!,
    startTime,
    convert: async (request, caller) => (await call(request, caller)).milliseconds,
    fetch: async (request) => read((await call(request)).address, agent),
    async steps() {
      child.send('steps');
      return (await firstWith<{ steps: Steps[] }>(child, 'steps')).steps;
    },
    async close() {
      agent.destroy();
      child.send('close');
      await once(child, 'exit');
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Waits for a message with a member, and skips log lines. */
function firstWith<Message>(child: ChildProcess, member: keyof Message & string): Promise<Message> {
  const { promise, resolve, reject } = Promise.withResolvers<Message>();
  const onMessage = (message: Message & object) => member in message && resolve(message);
  const onExit = (code: number | null) => reject(new Error(`The service ended with ${code}.`));
  child.on('message', onMessage).once('exit', onExit);
  return promise.finally(() => child.off('message', onMessage).off('exit', onExit));
}

function read(address: string, agent: Agent, signal?: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    get(address, { agent, ...(signal && { signal }) }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', () => resolve(Buffer.concat(chunks)));
      response.once('error', reject);
    }).once('error', reject);
  });
}
