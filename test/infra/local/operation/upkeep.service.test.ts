import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';

const url = (path: string) => JSON.stringify(new URL(`../../../../${path}`, import.meta.url).href);
/** Logs to stderr, and counts the lines that it logs. */
const SCRIPT = `
  import { createLog } from ${url('functions/shared/log.ts')};
  import { keepRunning } from ${url('infra/local/operation/upkeep.ts')};
  let lines = 0;
  keepRunning(createLog((line) => { lines += 1; process.stderr.write(line + '\\n'); }));
  process.on('message', (what) => {
    if (what === 'throw') setImmediate(() => { throw new Error('thrown in a callback'); });
    if (what === 'reject') Promise.reject(new Error('rejected'));
    if (what === 'count') process.send(lines);
  });
  process.send('ready');
`;
let child: ChildProcess;
afterEach(() => child.kill('SIGKILL'));

async function start(): Promise<ChildProcess> {
  child = spawn(process.execPath, ['--input-type=module', '-e', SCRIPT], {
    cwd: fileURLToPath(new URL('../../../..', import.meta.url)),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  await once(child, 'message');
  return child;
}

async function count(): Promise<number> {
  child.send('count');
  const [lines] = (await once(child, 'message')) as [number];
  return lines;
}

it.each(['throw', 'reject'])('logs an error and goes on: %s', async (what) => {
  await start();

  child.send(what);
  const [line] = (await once(child.stderr!, 'data')) as [Buffer];

  expect(JSON.parse(line.toString())).toMatchObject({ level: 'error' });
  expect(await count()).toBe(1);
});

it('logs an error once, although whoever reads the log has exited', async () => {
  await start();
  child.stderr!.destroy();
  await once(child.stderr!, 'close');

  child.send('throw');

  // Each message is answered in a later turn of the event loop, in which the failed line would be logged again.
  for (let turn = 0; turn < 20; turn += 1) expect(await count()).toBeLessThanOrEqual(1);
  expect(await count()).toBe(1);
});
