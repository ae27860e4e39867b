import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { ConversionDirectories } from '../../../functions/conversion/directories.ts';

let parent: string;
let directories: ConversionDirectories;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'directories-'));
  directories = new ConversionDirectories(parent);
  return () => rmSync(parent, { recursive: true });
});

/** Names of everything below the parent. */
const below = () => readdirSync(parent, { recursive: true });

it('deletes the files and uses the directory again, under a new name', async () => {
  const first = directories.create();
  writeFileSync(join(first, 'source'), 'x');
  await directories.remove(first);
  expect(below()).toHaveLength(1);

  const second = directories.create();

  expect(below()).toHaveLength(1);
  expect(second).not.toBe(first);
  expect(readdirSync(second)).toEqual([]);
});

it('never gives a directory to two conversions', async () => {
  for (const directory of Array.from({ length: 5 }, () => directories.create()))
    await directories.remove(directory);

  const given = Array.from({ length: 5 }, () => directories.create());

  expect(new Set(given).size).toBe(5);
});

it('rejects what is written after the end of a conversion', async () => {
  const first = directories.create();
  await directories.remove(first);

  expect(() => writeFileSync(join(first, 'late'), 'x')).toThrow('ENOENT');
  expect(readdirSync(directories.create())).toEqual([]);
});

it.for([
  ['a directory', (path: string) => mkdirSync(path)],
  ['a large file', (path: string) => writeFileSync(path, Buffer.alloc(20_000_000))],
] as const)('deletes a directory with %s', async ([, write]) => {
  const directory = directories.create();
  write(join(directory, 'large'));

  await directories.remove(directory);

  expect(below()).toEqual([]);
});

it('keeps two at most', async () => {
  const created = Array.from({ length: 5 }, () => directories.create());

  for (const directory of created) await directories.remove(directory);

  expect(below()).toHaveLength(2);
});

it('does without directories that something else has deleted', async () => {
  const [first, second] = [directories.create(), directories.create()];
  rmSync(first, { recursive: true });
  await directories.remove(first);
  await directories.remove(second);
  rmSync(parent, { recursive: true });

  expect(existsSync(directories.create())).toBe(true);
});
