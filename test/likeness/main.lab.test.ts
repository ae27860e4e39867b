import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

const FOLDER = join(import.meta.dirname, '../fixtures/office');

/** Returns the ids of the processes below one, which are gone from the list once they ended. */
async function descendants(id: number): Promise<number[]> {
  const list = await readFile(`/proc/${id}/task/${id}/children`, 'utf8').catch(() => '');
  const children = list.split(' ').filter(Boolean).map(Number);
  return [...children, ...(await Promise.all(children.map(descendants))).flat()];
}

async function isRunning(id: number): Promise<boolean> {
  const status = await readFile(`/proc/${id}/stat`, 'utf8').catch(() => '');
  return status !== '' && !/\) [ZX] /.test(status);
}

async function programs(ids: readonly number[]): Promise<string> {
  const lines = ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => ''));
  return (await Promise.all(lines)).join('\n');
}

it('ends with all its processes when npm is told to', { timeout: 300_000 }, async () => {
  const temporary = await mkdtemp(join(tmpdir(), 'main-'));
  onTestFinished(() => rm(temporary, { recursive: true }));
  const npm = spawn('npm', ['run', 'likeness', '--', 'documents', FOLDER], {
    stdio: 'ignore',
    env: { ...process.env, TMPDIR: temporary },
  });
  const ended = once(npm, 'exit');
  // LibreOffice on both sides.
  await expect
    .poll(async () => programs(await descendants(npm.pid!)), { timeout: 240_000, interval: 200 })
    .toMatch(/(?=[\s\S]*soffice\.bin)(?=[\s\S]*program\/host)/);
  const started = await descendants(npm.pid!);

  npm.kill('SIGTERM');
  await ended;

  await expect.poll(async () => (await Promise.all(started.map(isRunning))).filter(Boolean).length).toBe(0);
});
