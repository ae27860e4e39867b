import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { buildOnce, discardProducts } from '../../../layers/build/product.ts';

let root: string;
let products: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'update-'));
  products = join(root, 'layers');
});
afterEach(() => rm(root, { recursive: true }));

/** Builds a layer whose content is the number of the build. */
async function build(number: number): Promise<string> {
  const into = join(products, 'one');
  await buildOnce({ into, progress: () => {} }, { recipe: 'the same' }, (directory) =>
    writeFile(join(directory, 'number'), String(number)),
  );
  return readFile(join(into, 'number'), 'utf8');
}

it('builds a layer again whose recipe is unchanged', async () => {
  expect([await build(1), await build(2)]).toEqual(['1', '1']);

  await discardProducts(products, ['one']);

  expect(await build(3)).toBe('3');
});

it('keeps the old layer until the new one is complete', async () => {
  await build(1);

  await discardProducts(products, ['one']);

  expect(await readFile(join(products, 'one/number'), 'utf8')).toBe('1');
});

it('fetches package lists again, and keeps downloaded packages', async () => {
  const lists = join(root, 'cache/apt/trixie');
  await mkdir(lists, { recursive: true });
  await writeFile(join(lists, 'fetched'), '');
  await writeFile(join(lists, 'a.deb'), 'package');

  await discardProducts(products, ['one']);

  await expect(readFile(join(lists, 'fetched'))).rejects.toThrow('ENOENT');
  expect(await readFile(join(lists, 'a.deb'), 'utf8')).toBe('package');
});
