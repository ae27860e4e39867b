import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMPILE_CACHE } from '../../compile-cache.ts';
import { processesBelow } from '../../service/server/leftovers.ts';

const SCRIPT = join(import.meta.dirname, '../../../infra/local/main.ts');
const TOOLS = ['pdftools', 'html2pdf', 'html2image', 'imageproc', 'doc2any'];

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'start-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

function start(args: readonly string[], settings: Readonly<Record<string, string>> = {}) {
  const env = {
    PATH: '/usr/bin:/bin',
    HOME: directory,
    TMPDIR: directory,
    DATA_DIR: join(directory, 'data'),
    PORT: '0',
    ...COMPILE_CACHE,
  };
  const child = spawn(process.execPath, [SCRIPT, ...args], {
    env: { ...env, ...settings },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true,
  });
  // The types do not tell which streams exist beside an IPC channel.
  return Object.assign(child, { stdout: child.stdout!, stderr: child.stderr! });
}

async function check(settings: Readonly<Record<string, string>> = {}) {
  const child = start(['--check'], settings);
  const [output, log, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { output, log, code: code as number | null };
}

describe('the check', () => {
  it('converts one sample with each tool, prints a row for each, and succeeds', async () => {
    const { output, code } = await check();

    for (const tool of TOOLS) {
      expect(output).toMatch(
        new RegExp(`^${tool} +\\S+ +\\d+ ms +\\d+ KiB +http://localhost:\\d+/files/\\S+$`, 'm'),
      );
    }
    expect(code).toBe(0);
  });

  it('creates a key once, shows it once, and keeps only its hash', async () => {
    const data = await mkdtemp(join(directory, 'new-'));
    const [first, second] = [await check({ DATA_DIR: data }), await check({ DATA_DIR: data })];

    const apiKey = /[0-9A-Z]{7}(-[0-9A-Z]{7}){3}/.exec(first.output)?.[0];
    expect(apiKey).toBeDefined();
    expect(second.output).not.toMatch(/[0-9A-Z]{7}(-[0-9A-Z]{7}){3}/);
    for (const entry of await readdir(data, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      expect(await readFile(join(entry.parentPath, entry.name), 'latin1')).not.toContain(apiKey!);
    }
    expect(first.log).not.toContain(apiKey!);
  });

  it('names a port that is in use in one line, and creates no key that nobody sees', async () => {
    const data = await mkdtemp(join(directory, 'new-'));
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;

    const { output, log, code } = await check({ DATA_DIR: data, PORT: String(port) });
    other.close();

    expect(code).toBe(1);
    expect(log).toMatch(
      new RegExp(`^Port ${port} of 127\\.0\\.0\\.1 is in use\\. Set PORT to another one\\.$`, 'm'),
    );
    expect(log).not.toContain(' at ');
    expect(output).not.toContain('API key');
    expect((await check({ DATA_DIR: data })).output).toContain('API key');
  });

  it('names METRICS_PORT if that one is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;

    const { log, code } = await check({ METRICS_PORT: String(port) });
    other.close();

    expect(code).toBe(1);
    expect(log).toMatch(
      new RegExp(`^Port ${port} of 127\\.0\\.0\\.1 is in use\\. Set METRICS_PORT to another one\\.$`, 'm'),
    );
  });

  it.each(['192.0.2.1', 'no-such-host.invalid'])(
    'says in one line that it cannot listen on %s',
    async (HOST) => {
      const { log, code } = await check({ HOST });

      expect(code).toBe(1);
      expect(log).toMatch(/^The server cannot listen\. Check PORT and HOST\. \(.*\)$/m);
      expect(log).not.toContain(' at ');
    },
  );

  it('leaves no process and no temporary file behind', async () => {
    await check();

    await expect.poll(() => processesBelow(directory)).toEqual([]);
    expect((await readdir(directory)).filter((name) => name.startsWith('docmill-'))).toEqual([]);
  });

  it.each([
    { PORT: 'x' },
    { PORT: '70000' },
    { CONCURRENCY: '0' },
    { ALLOW_SOURCES: 'localhost' },
    { PUBLIC_URL: 'convert.example.com' },
  ])('does not start with the setting %j, and prints the reason', async (settings) => {
    const { code, log } = await check(settings);

    expect(code).not.toBe(0);
    expect(log).toMatch(/Setting (PORT|CONCURRENCY) must be|host:port|PUBLIC_URL must be/);
  });
});

describe('a link for the operator', () => {
  it('is printed in a terminal, signs in once, and is in no log', async () => {
    const server = start([], { LOG_FORMAT: 'pretty', DATA_DIR: join(directory, 'operator') });
    let output = '';
    server.stdout.setEncoding('utf8').on('data', (piece: string) => (output += piece));
    while (!/token=\S+\n/.test(output)) await once(server.stdout, 'data');
    const url = new URL(/http\S+token=\S+/.exec(output)![0]);
    const use = () =>
      fetch(new URL(url.pathname, url), {
        method: 'POST',
        headers: { Origin: url.origin },
        body: new URLSearchParams({ token: url.searchParams.get('token')! }),
        redirect: 'manual',
      });
    const [first, second] = [await use(), await use()];
    server.kill('SIGKILL');
    const { output: checked, log } = await check({ DATA_DIR: join(directory, 'other') });

    expect([first.status, first.headers.get('location'), second.status]).toEqual([303, '/operator', 400]);
    expect(checked + log).not.toContain('token=');
  });
});

describe('a data directory that cannot be used', () => {
  it('is rejected in one line if another server uses it, and is free when that server has stopped', async () => {
    const data = { DATA_DIR: join(directory, 'shared') };
    const first = start([], data);
    let output = '';
    first.stderr.setEncoding('utf8').on('data', (piece: string) => (output += piece));
    while (!output.includes('docmill is running')) await once(first.stderr, 'data');

    const second = await check(data);
    first.kill('SIGKILL');
    await once(first, 'exit');
    const third = await check(data);

    expect(second.code).toBe(1);
    expect(second.log).toBe(
      `Another server (process ${first.pid}) is using the data directory ${data.DATA_DIR}. Stop it first, or set DATA_DIR to a directory of its own.\n`,
    );
    expect(third.code).toBe(0);
  });

  it('is rejected in one line if it is a file', async () => {
    const file = join(directory, 'file');
    await writeFile(file, '');

    const { code, log } = await check({ DATA_DIR: file });

    expect(code).toBe(1);
    expect(log).toMatch(/^The data directory \S+ cannot be used\. Check that the user .*\n$/);
  });

  it('is rejected in one line if its database is damaged, which is not changed', async () => {
    const data = join(directory, 'damaged');
    await mkdir(data);
    await writeFile(join(data, 'docmill.db'), 'no database'.repeat(100));

    const { code, log } = await check({ DATA_DIR: data });

    expect(code).toBe(1);
    expect(log).toMatch(/^The database \S+docmill\.db is damaged\. Stop every docmill process, .*\n$/);
    expect(await readFile(join(data, 'docmill.db'), 'utf8')).toBe('no database'.repeat(100));
  });
});

describe('the service', () => {
  it('prints calls to paste, accepts the key from the settings, and stops on a signal', async () => {
    const child = start([], { API_KEY: 'my-own-key' });
    let output = '';
    child.stderr.setEncoding('utf8').on('data', (piece: string) => (output += piece));
    while ((output.match(/curl -g "/g) ?? []).length < TOOLS.length) await once(child.stderr, 'data');

    const calls = [...output.matchAll(/curl -g "([^"]+)"/g)].map(([, call]) =>
      call!.replace('$API_KEY', 'my-own-key'),
    );
    const bodies = await Promise.all(calls.map(async (call) => (await fetch(call)).text()));
    const ended = once(child, 'exit');
    child.kill('SIGTERM');

    for (const body of bodies) expect(body).toMatch(/^\[Output\] \S+<br>$/);
    expect(output).not.toContain('my-own-key');
    expect(await ended).toEqual([0, null]);
    await expect.poll(() => processesBelow(directory)).toEqual([]);
  });

  it('stops properly on a signal during its check', async () => {
    const child = start([], { DATA_DIR: join(directory, 'early') });
    let output = '';
    child.stderr.setEncoding('utf8').on('data', (piece: string) => (output += piece));
    while (!output.includes('pdftools ')) await once(child.stderr, 'data');

    child.kill('SIGTERM');

    expect(await once(child, 'exit')).toEqual([0, null]);
    await expect.poll(() => processesBelow(directory)).toEqual([]);
    expect((await readdir(directory)).filter((name) => name.startsWith('docmill-'))).toEqual([]);
  });

  it('takes its engines with it when it is killed', async () => {
    const child = start([], { DATA_DIR: join(directory, 'killed') });
    let output = '';
    child.stderr.setEncoding('utf8').on('data', (piece: string) => (output += piece));
    while (!output.includes('doc2any ')) await once(child.stderr, 'data');
    expect(processesBelow(directory).length).toBeGreaterThan(4);

    child.kill('SIGKILL');
    await once(child, 'exit');

    await expect.poll(() => processesBelow(directory)).toEqual([]);
  });
});
