import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withLock } from '../../../layers/build/lock.ts';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lock-test-'));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

describe('withLock', () => {
  it('lets only one process in at a time', async () => {
    let inside = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++inside);
      await setTimeout(20);
      inside -= 1;
    };

    await Promise.all([1, 2, 3].map(() => withLock(join(directory, 'busy'), work)));

    expect(most).toBe(1);
  });

  it('takes over the lock of a process that died', async () => {
    const file = join(directory, 'dead');
    // Above the highest process ID on Linux.
    await writeFile(file, '4194305');

    const result = await withLock(file, async () => 'done');

    expect(result).toBe('done');
    expect(await readdir(directory)).not.toContain('dead');
  });

  it('is released after work that failed', async () => {
    const file = join(directory, 'failed');
    await expect(withLock(file, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');

    const result = await withLock(file, async () => 'done');

    expect(result).toBe('done');
  });
});
