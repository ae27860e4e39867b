import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { API_KEY } from './server.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** Holds a listening socket and starts a server with it, twice, as systemd does. Prints the port and the process IDs. */
const HOLDER = `
import os, socket, subprocess, sys
listening = socket.create_server(('127.0.0.1', 0), backlog=512)
print('port', listening.getsockname()[1], flush=True)
os.dup2(listening.fileno(), 3)
os.set_inheritable(3, True)
for _ in range(2):
    command = ['sh', '-c', 'LISTEN_FDS=1 LISTEN_PID=$$ exec "$@"', 'sh', *sys.argv[1:]]
    server = subprocess.Popen(command, close_fds=False)
    print('started', server.pid, flush=True)
    print('ended', server.wait(), flush=True)
`;

it('loses no call while another server takes over the socket of systemd', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'upgrade-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }));
  const holder = spawn('python3', ['-c', HOLDER, process.execPath, join(ROOT, 'infra/local/main.ts')], {
    env: {
      ...{ PATH: '/usr/bin:/bin', HOME: directory, TMPDIR: directory, SANDBOX: 'best-effort' },
      ...{ DATA_DIR: join(directory, 'data'), API_KEY, LOG_FORMAT: 'pretty' },
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  onTestFinished(() => void process.kill(-holder.pid!, 'SIGKILL'));
  const lines = createInterface(holder.stdout)[Symbol.asyncIterator]();
  const next = async (start: string) => {
    for (let line = await lines.next(); !line.done; line = await lines.next())
      if (line.value.startsWith(start)) return Number(line.value.slice(start.length));
    throw new Error('The server has ended.');
  };
  const port = await next('port ');
  const first = await next('started ');
  await next('docmill is running');

  const statuses: Promise<number>[] = [];
  const calls = (async () => {
    while (statuses.length < 60) {
      statuses.push(call(port));
      await setTimeout(400);
    }
  })();
  await setTimeout(3000);
  process.kill(first, 'SIGTERM');

  expect(await next('ended ')).toBe(0);
  await calls;
  expect((await Promise.all(statuses)).filter((status) => status !== 200)).toEqual([]);
  expect(await next('started ')).not.toBe(first);
});

/** Converts on a connection of its own. Returns the status, or 0 if the connection failed. */
function call(port: number): Promise<number> {
  const source = 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>';
  const query = new URLSearchParams({ app: 'imageproc', outfile: 'x.png', apikey: API_KEY, infile: source });
  return new Promise((resolve) => {
    request({ port, path: `/api/?${query}`, agent: false }, (response) =>
      resolve(response.resume().statusCode!),
    )
      .once('error', () => resolve(0))
      .end();
  });
}
