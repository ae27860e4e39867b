import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { killOrphans } from '../../../../functions/engines/worker/linux/orphans.ts';
import { makeTemporary } from '../../../../infra/local/server/temporary.ts';

let parent: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'temporary-test-'));
});
afterEach(async () => {
  await killOrphans(join(parent, 'docmill-9999999-abcdef', 'engine-abcdef'));
  await rm(parent, { recursive: true, maxRetries: 5 });
});

it('creates a private folder', async () => {
  const made = await makeTemporary(parent);

  expect((await stat(made)).mode & 0o777).toBe(0o700);
  expect(await readdir(made)).toEqual(['alive']);
});

it('removes only the folders of killed processes', async () => {
  // No process has this number: it is above the largest that Linux gives.
  const kept = [`docmill-${process.pid}-abcdef`, 'docmill-bench-abcdef', 'docmill-9999999'];
  for (const name of ['docmill-9999999-abcdef', ...kept])
    await mkdir(join(parent, name, 'engine'), { recursive: true });
  const hourAgo = Date.now() / 1000 - 3600;
  await utimes(join(parent, 'docmill-9999999-abcdef'), hourAgo, hourAgo);

  const made = await makeTemporary(parent);

  expect((await readdir(parent)).sort()).toEqual([...kept, made.slice(parent.length + 1)].sort());
});

it('keeps the directory of a server in another container, whose process ID is unknown here', async () => {
  const made = await makeTemporary(parent);
  const foreign = join(parent, 'docmill-9999999-abcdef');
  await rename(made, foreign);

  await makeTemporary(parent);

  expect(await readdir(foreign)).toEqual(['alive']);
});

it('removes what a killed process left even if its engines still write', async () => {
  const left = join(parent, 'docmill-9999999-abcdef');
  const home = join(left, 'engine-abcdef');
  await mkdir(home, { recursive: true });
  // A socket that nothing listens on any more.
  await run(
    `require('net').createServer().listen('${left}/alive', () => process.kill(process.pid, 'SIGKILL'))`,
  );
  const engine = spawn(process.execPath, ['-e', WRITER], { cwd: home, env: { HOME: home } });
  const ended = once(engine, 'exit');
  await once(engine.stdout, 'data');

  const made = await makeTemporary(parent);

  expect(await ended).toEqual([null, 'SIGKILL']);
  await setTimeout(100);
  expect(await readdir(parent)).toEqual([made.slice(parent.length + 1)]);
});

/** Creates its home directory again whenever it is gone, as Chromium does. */
const WRITER = `
  const { mkdirSync } = require('fs');
  for (let count = 0; ; count++) {
    mkdirSync(process.env.HOME + '/profile/' + (count % 100), { recursive: true });
    if (count === 10) process.stdout.write('writing');
  }`;

async function run(script: string): Promise<void> {
  await once(spawn(process.execPath, ['-e', script]), 'exit');
}
