import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WorkerCrash, WorkerProcess } from '../../../../functions/engines/worker/process.ts';

let temporary: string;
let worker: WorkerProcess;

beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'engines-'));
  await mkdir(join(temporary, 'conversion'));
});

afterEach(async () => {
  vi.useRealTimers();
  worker.kill();
  await worker.ended;
  await rm(temporary, { recursive: true });
});

function start(command: string, ...args: readonly string[]): void {
  worker = new WorkerProcess(() => ({ command, args }), { temporary });
}

/** Sends a request to a worker that runs a script for it. */
function runScript(script: string): Promise<unknown> {
  const code = `
    const { writeSync } = require('node:fs');
    const send = (text) => { for (let rest = Buffer.from(text); rest.length > 0; ) rest = rest.subarray(writeSync(3, rest)); };
    process.stdin.once('data', () => { ${script} });
    send('{"ready":true}\\n');`;
  start(process.execPath, '--eval', code);
  return worker.request({ operation: 'run', arguments: {} }, join(temporary, 'conversion'), {});
}

/** Returns the letter of a process's state, or an empty text if it is gone. */
function stateOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.slice(0, 1);
  } catch {
    return '';
  }
}

const HEARTBEAT = '{"id":1,"heartbeat":1}\\n';
const RESULT = '{"id":1,"result":"done"}\\n';

describe('the output of a worker during a request', () => {
  it('is an error that names the limit if an honest worker would send more than that', async () => {
    const serve = pathToFileURL(resolve('functions/engines/worker/serve.ts')).href;
    const code = `import { serveRequests } from '${serve}';
      await serveRequests({ run: async ({ length }) => 'x'.repeat(length) });`;
    start(process.execPath, '--input-type=module', '--eval', code);
    const run = (length: number) =>
      worker.request({ operation: 'run', arguments: { length } }, join(temporary, 'conversion'), {});

    await expect(run(600_000)).rejects.toMatchObject({
      code: 'SOURCE_TOO_LARGE',
      message: expect.stringContaining('limited to 400 kB'),
    });
    expect(await run(399_000)).toHaveLength(399_000);
  });

  it('may have 10000 messages', async () => {
    expect(await runScript(`send('${HEARTBEAT}'.repeat(9999) + '${RESULT}')`)).toBe('done');
  });

  it.each([
    ['10000 messages', `send('${HEARTBEAT}'.repeat(10_000) + '${RESULT}')`],
    ['500000 bytes', `send(JSON.stringify({ id: 1, result: 'x'.repeat(500_000) }) + '\\n')`],
    [
      '10000000 bytes to stderr',
      `for (let sent = 0; sent <= 10_000_000; ) sent += writeSync(2, 'x'.repeat(10_000))`,
    ],
  ])('may not have more than %s', async (limit, script) => {
    const thrown = await runScript(script).catch((error: unknown) => error);

    expect(thrown).toBeInstanceOf(WorkerCrash);
    expect((thrown as Error).message).toContain(`The worker exited: it sent more than ${limit}.`);
    expect(worker.usable).toBe(false);
  });
});

it('is killed together with the processes that it has started, even in another session', async () => {
  const file = join(temporary, 'pid');
  start('/bin/sh', '-c', `setsid sh -c 'echo $$ > ${file}; exec sleep 240' & wait`);
  const child = await vi.waitFor(() => Number(readFileSync(file, 'utf8').match(/^\d+\n/)![0]));

  worker.kill();

  // Its parent is gone, so another process has to reap it.
  await vi.waitFor(() => expect(stateOf(child)).toMatch(/^[ZX]?$/));
});

describe('a worker that idles before it is ready', () => {
  it('is killed after 15 seconds', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    start('sleep', '240');

    await vi.advanceTimersByTimeAsync(14_000);
    await worker.groupState({ maxThreads: 10, isThorough: false });
    expect(worker.usable).toBe(true);
    // It was not idle in the second in which it started.
    await vi.advanceTimersByTimeAsync(2000);

    await expect(worker.ready).rejects.toMatchObject({
      message: 'The worker exited: it was not ready in time.',
      atStart: true,
      late: true,
    });
  });
});
