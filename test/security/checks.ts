import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { execa } from 'execa';
import { readProcess, readStat } from '../../functions/engines/worker/linux/proc.ts';
import { createApiKey } from '../../functions/platform/keys.ts';
import { SAMPLES, sampleQuery } from '../../infra/local/self-check/samples.ts';
import { descendants } from '../helpers/processes.ts';
import { memoryOf } from '../lambda-emulator/sandbox.ts';
import type { AttackedService } from './deployment/deployment.ts';

/** Searches for API keys in places where none are allowed. */
export interface Canary {
  /** Adds a key to search for. */
  watch(apiKey: string): void;
  /** Searches a text or file that left the service, or that an engine can read. */
  inspect(place: string, content: string | Buffer): void;
  /** Searches the environment and arguments of all descendants of some processes, by default of this one. */
  inspectProcesses(roots?: readonly number[]): void;
  /** Adds the findings of another canary. */
  add(other: Pick<Canary, 'inspected' | 'found'>): void;
  /** Number of pieces that were searched. */
  readonly inspected: number;
  readonly found: readonly string[];
}

/** Creates a canary that recognizes the usual encodings of a key: other case, no hyphens, Base64, hexadecimal. */
export function createCanary(): Canary {
  const needles = new Set<string>();
  const found: string[] = [];
  let inspected = 0;

  const inspect = (place: string, content: string | Buffer) => {
    inspected += 1;
    const text = (typeof content === 'string' ? content : content.toString('latin1')).toLowerCase();
    if ([...needles].some((needle) => text.includes(needle))) found.push(place);
  };

  return {
    watch(apiKey) {
      const bytes = Buffer.from(apiKey);
      // The ends of a Base64 text depend on the adjacent bytes.
      const base64 = [0, 1, 2].map((shift) => bytes.subarray(shift).toString('base64').slice(0, 24));
      for (const form of [apiKey, apiKey.replaceAll('-', ''), bytes.toString('hex'), ...base64])
        needles.add(form.toLowerCase());
    },
    inspect,
    inspectProcesses(roots = [process.pid]) {
      for (const pid of descendants(...roots)) {
        const command = readProcess(pid, 'cmdline');
        // Between fork and exec, a child still has the command line and environment of its parent.
        if (command === readProcess(readStat(pid).parent, 'cmdline')) continue;
        inspect('arguments of an engine', command);
        inspect(`environment of ${command.split('\0')[0]}`, readProcess(pid, 'environ'));
      }
    },
    add(other) {
      inspected += other.inspected;
      found.push(...other.found);
    },
    get inspected() {
      return inspected;
    },
    found,
  };
}

/** Memory in use when nothing is running, MiB. */
export interface MemoryUse {
  /** Heap of this process, which is the service on one machine, after garbage collection. */
  readonly heap: number;
  /** By process: a long-lived process with its descendants, without mapped files. */
  readonly residents: ReadonlyMap<number, { readonly tool: string; readonly memory: number }>;
}

const LOOKS = 5;
const PAUSE = 300;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Measures the memory of an idle service: the median of several samples. */
export async function measureMemory(service: AttackedService): Promise<MemoryUse> {
  await service.rest();
  const looks: MemoryUse[] = [];
  for (let look = 0; look < LOOKS; look += 1) {
    await setTimeout(PAUSE);
    const heap = await (service.heap ?? ownHeap)();
    const residents = service.residents().map(({ pid, tool, alone }) => {
      return [pid, { tool, memory: memoryOf(pid, alone && 'alone') }] as const;
    });
    looks.push({ heap, residents: new Map(residents) });
  }
  const last = looks.at(-1)!.residents;
  const residents = [...last].map(([pid, { tool }]) => {
    const memory = median(looks.flatMap((look) => look.residents.get(pid)?.memory ?? []));
    return [pid, { tool, memory }] as const;
  });
  return { heap: median(looks.map(({ heap }) => heap)), residents: new Map(residents) };
}

/** MiB by which each tool's long-lived processes grew between two measurements. Only processes in both of them count. */
export function growth(
  before: MemoryUse,
  after: MemoryUse,
): Map<string, { grown: number; residents: number }> {
  const tools = new Map<string, { grown: number; residents: number }>();
  for (const [pid, { tool, memory }] of after.residents) {
    const earlier = before.residents.get(pid);
    if (!earlier) continue;
    const { grown, residents } = tools.get(tool) ?? { grown: 0, residents: 0 };
    tools.set(tool, { grown: grown + memory - earlier.memory, residents: residents + 1 });
  }
  return tools;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

async function ownHeap(): Promise<number> {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
}

const ROOT = join(import.meta.dirname, '../..');
/** The last line that the server prints when it starts. */
const STARTED = 'outfile=letter.pdf"';

/**
 * Runs the server as an operator does, calls every tool with a key, and searches what the calls leave: what
 * the server prints, its responses, metrics and health, the output of the keys command, and every file in its
 * data directory. Returns the exit code of the server.
 */
export async function searchService(canary: Canary): Promise<number | null> {
  const operatorsKey = createApiKey();
  canary.watch(operatorsKey);
  const directory = await mkdtemp(join(tmpdir(), 'api-key-'));
  const metricsPort = await freePort();
  const env = {
    ...process.env,
    API_KEY: operatorsKey,
    PORT: '0',
    DATA_DIR: directory,
    TMPDIR: directory,
    METRICS_PORT: String(metricsPort),
  };
  const runKeys = async (...args: string[]) =>
    (await execa(process.execPath, ['infra/keys/main.ts', ...args], { cwd: ROOT, env })).stdout;
  const { id, apiKey } = JSON.parse(await runKeys('create', '--name', 'caller', '--json'));
  canary.watch(apiKey);

  const service = spawn(process.execPath, ['infra/local/main.ts'], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => service.once('close', resolve));
  const looking = setInterval(() => canary.inspectProcesses([service.pid!]), 50);
  let printed = '';
  for (const stream of [service.stdout, service.stderr])
    stream.on('data', (chunk: Buffer) => {
      printed += chunk;
      canary.inspect('what the service prints', chunk);
    });
  while (!printed.includes(STARTED) && service.exitCode === null)
    await Promise.race([once(service.stderr, 'data'), ended]);

  const base = /http:\/\/localhost:\d+/.exec(printed)![0];
  const samples = /infile=http:\/\/([^/]+)/.exec(printed)![1]!;
  const calls = SAMPLES.map((sample) => `?${sampleQuery(sample, samples, apiKey)}`);
  for (const path of ['health', 'version', `usage?apikey=${apiKey}`, ...calls])
    await look(`the response to ${path.split('?')[0]}`, `${base}/api/${path}`);
  // The response quotes the caller's mistakes. Nothing else may.
  await fetch(`${base}/api/?apikey=${apiKey}&app=${apiKey}&infile=${apiKey}&outfile=${apiKey}&-${apiKey}=1`);
  await fetch(`${base}/api/${apiKey}?apikey=${apiKey}0`);
  await look('the metrics', `http://127.0.0.1:${metricsPort}/metrics`);
  for (const args of [
    ['list'],
    ['list', '--json'],
    ['show', id],
    ['usage'],
    ['usage', id, '--csv'],
    ['disable', id],
  ])
    canary.inspect(`the output of keys ${args[0]}`, await runKeys(...args));

  service.kill('SIGTERM');
  const code = await ended;
  clearInterval(looking);
  for (const file of await readdir(directory, { recursive: true, withFileTypes: true }))
    if (file.isFile())
      canary.inspect(`the file ${file.name}`, await readFile(join(file.parentPath, file.name)));
  await rm(directory, { recursive: true, force: true });
  return code;

  async function look(place: string, url: string): Promise<void> {
    const response = await fetch(url);
    canary.inspect(place, JSON.stringify([...response.headers]) + (await response.text()));
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
