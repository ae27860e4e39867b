import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildOnce } from '../../../layers/build/product.ts';

const progress = () => undefined;
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'product-test-'));
});

afterEach(() => rm(directory, { recursive: true, force: true }));

describe('buildOnce', () => {
  it('builds again only when the recipe changes', async () => {
    const into = join(directory, 'layer');
    const built: number[] = [];
    const make = (version: number) => async (folder: string) => {
      built.push(version);
      await writeFile(join(folder, 'version'), String(version));
    };

    for (const version of [1, 1, 2]) await buildOnce({ into, progress }, { version }, make(version));

    expect(built).toEqual([1, 2]);
    expect(await readFile(join(into, 'version'), 'utf8')).toBe('2');
  });

  it('hides an incomplete build and starts over after it', async () => {
    const into = join(directory, 'layer');
    const half = buildOnce({ into, progress }, {}, async (folder) => {
      await writeFile(join(folder, 'half'), '');
      throw new Error('interrupted');
    });
    await expect(half).rejects.toThrow('interrupted');
    expect(await readdir(directory)).not.toContain('layer');

    await buildOnce({ into, progress }, {}, (folder) => writeFile(join(folder, 'whole'), ''));

    expect((await readdir(into)).sort()).toEqual(['.recipe', 'whole']);
  });

  it('builds once for two concurrent callers', async () => {
    const into = join(directory, 'layer');
    let builds = 0;
    const make = async () => {
      builds += 1;
    };

    await Promise.all([1, 2].map(() => buildOnce({ into, progress }, {}, make)));

    expect(builds).toBe(1);
  });
});
