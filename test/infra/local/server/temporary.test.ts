import { mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeTemporary } from '../../../../infra/local/server/temporary.ts';

let parent: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'temporary-test-'));
});
afterEach(() => rm(parent, { recursive: true }));

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
