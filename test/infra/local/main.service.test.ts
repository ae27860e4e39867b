import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readStat } from '../../../functions/engines/worker/linux/proc.ts';
import { lockDataDirectory } from '../../../infra/local/operation/lock.ts';
import { openStores } from '../../../infra/local/stores.ts';
import { sessionOf } from '../../functions/engines/worker/linux/session-of.ts';
import { COMPILE_CACHE, processesBelow } from '../../helpers/processes.ts';

const SCRIPT = join(import.meta.dirname, '../../../infra/local/main.ts');
const API_KEY = /[0-9A-Z]{7}(-[0-9A-Z]{7}){3}/;
const TOOLS = ['pdftools', 'html2pdf', 'html2image', 'imageproc', 'doc2any'];

let directory: string;

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

let data: { readonly DATA_DIR: string };
let first: Awaited<ReturnType<typeof check>>;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'start-'));
  data = { DATA_DIR: join(directory, 'data') };
  first = await check(data);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describe('the check', () => {
  it('converts one sample with each tool, prints a row for each, and succeeds', () => {
    const { output, code } = first;

    for (const tool of TOOLS) {
      expect(output).toMatch(
        new RegExp(`^${tool} +\\S+ +\\d+ ms +\\d+ KiB +http://localhost:\\d+/files/\\S+$`, 'm'),
      );
    }
    expect(code).toBe(0);
  });

  it('leaves no process and no temporary file behind', async () => {
    await expect.poll(() => processesBelow(directory)).toEqual([]);
    expect((await readdir(directory)).filter((name) => name.startsWith('docmill-'))).toEqual([]);
  });

  it('creates a key, shows it, and keeps only its hash', async () => {
    const apiKey = API_KEY.exec(first.output)?.[0];
    expect(apiKey).toBeDefined();
    for (const entry of await readdir(data.DATA_DIR, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      expect(await readFile(join(entry.parentPath, entry.name), 'latin1')).not.toContain(apiKey!);
    }
    expect(first.log).not.toContain(apiKey!);
  });

  it('prints no link that signs in', () => {
    expect(first.output + first.log).not.toContain('token=');
  });

  it.each(['PORT', 'METRICS_PORT'])(
    'names %s in one line if that port is in use, and creates no key that nobody sees',
    async (setting) => {
      const unused = await mkdtemp(join(directory, 'new-'));
      const other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      const { port } = other.address() as AddressInfo;

      const { output, log, code } = await check({ DATA_DIR: unused, [setting]: String(port) });
      other.close();
      const stores = openStores(unused);
      const keys = await stores.keys.list();
      stores.close();

      expect(code).toBe(1);
      expect(log).toMatch(
        new RegExp(`^Port ${port} of 127\\.0\\.0\\.1 is in use\\. Set ${setting} to another one\\.$`, 'm'),
      );
      expect(log).not.toContain(' at ');
      expect(output).not.toContain('API key');
      expect(keys).toEqual([]);
    },
  );

  it.each(['192.0.2.1', 'no-such-host.invalid'])(
    'says in one line that it cannot listen on %s',
    async (HOST) => {
      const { log, code } = await check({ HOST });

      expect(code).toBe(1);
      expect(log).toMatch(/^The server cannot listen\. Check PORT and HOST\. \(.*\)$/m);
      expect(log).not.toContain(' at ');
    },
  );

  it.each([
    [{ PORT: 'x' }, "Setting PORT must be an integer from 0 to 65535, got 'x'."],
    [{ ALLOW_SOURCES: 'localhost' }, 'host:port'],
  ])('does not start with the setting %j, and prints the reason', async (settings, message) => {
    const { code, log } = await check(settings);

    expect(code).not.toBe(0);
    expect(log).toContain(message);
  });
});

describe('a server in a terminal', () => {
  let server: ReturnType<typeof start>;
  let output = '';
  beforeAll(async () => {
    server = start([], { ...data, LOG_FORMAT: 'pretty' });
    server.stdout.setEncoding('utf8').on('data', (piece: string) => (output += piece));
    while (!/token=\S+\n/.test(output)) await once(server.stdout, 'data');
  });

  it('creates no second key', () => {
    expect(output).not.toMatch(API_KEY);
  });

  it('keeps its engines in its session, outside its process group, and with a lower priority', async () => {
    const pid = server.pid!;
    const own = { session: sessionOf(pid), group: readStat(pid).group, priority: getPriority(pid) };
    const engines = () => processesBelow(directory).filter((each) => each.pid !== pid);
    const isRight = (each: number) =>
      sessionOf(each) === own.session &&
      readStat(each).group !== own.group &&
      getPriority(each) > own.priority;

    expect(engines().length).toBeGreaterThan(4);
    // One that has just been started is still in the group of the server.
    await expect.poll(() => engines().filter((each) => !isRight(each.pid))).toEqual([]);
  });

  it('prints a link that signs in an operator once', async () => {
    const url = new URL(/http\S+token=\S+/.exec(output)![0]);
    const use = () =>
      fetch(new URL(url.pathname, url), {
        method: 'POST',
        headers: { Origin: url.origin },
        body: new URLSearchParams({ token: url.searchParams.get('token')! }),
        redirect: 'manual',
      });

    const [first, second] = [await use(), await use()];

    expect([first.status, first.headers.get('location'), second.status]).toEqual([303, '/operator', 400]);
  });

  it('is named in one line by another one that gets the same data directory', async () => {
    const second = await check(data);

    expect(second.code).toBe(1);
    expect(second.log).toBe(
      `Another server (process ${server.pid}) is using the data directory ${data.DATA_DIR}. Stop it first, or set DATA_DIR to a directory of its own.\n`,
    );
  });

  it('takes its engines with it when it is killed, and frees its data directory', async () => {
    expect(processesBelow(directory).length).toBeGreaterThan(4);

    server.kill('SIGKILL');
    await once(server, 'exit');

    await expect.poll(() => processesBelow(directory)).toEqual([]);
    lockDataDirectory(data.DATA_DIR).release();
  });
});

describe('a data directory that cannot be used', () => {
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
    const child = start([], { API_KEY: 'my-own-key-of-20' });
    let output = '';
    child.stderr.setEncoding('utf8').on('data', (piece: string) => (output += piece));
    while ((output.match(/curl -g "/g) ?? []).length < TOOLS.length) await once(child.stderr, 'data');

    const calls = [...output.matchAll(/curl -g "([^"]+)"/g)].map(([, call]) =>
      call!.replace('$API_KEY', 'my-own-key-of-20'),
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
});
