import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { createApiKey } from '../../../functions/platform/keys.ts';
import { SAMPLES, sampleQuery } from '../../../infra/local/self-check/samples.ts';
import type { Canary } from './canary.ts';

const ROOT = join(import.meta.dirname, '../../..');
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
