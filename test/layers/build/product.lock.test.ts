import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withLock } from '../../../layers/build/product.ts';

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

  it('is held by a process until it is killed', async () => {
    const name = join(directory, 'killed');
    const script = `
      import { withLock } from ${JSON.stringify(import.meta.resolve('../../../layers/build/product.ts'))};
      await withLock(${JSON.stringify(name)}, () => new Promise(() => process.send('inside')));`;
    const owner = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    await once(owner, 'message');
    const entered = withLock(name, async () => owner.killed);

    owner.kill('SIGKILL');

    expect(await entered).toBe(true);
  });

  it('is released after work that failed', async () => {
    const file = join(directory, 'failed');
    await expect(withLock(file, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');

    const result = await withLock(file, async () => 'done');

    expect(result).toBe('done');
  });
});
