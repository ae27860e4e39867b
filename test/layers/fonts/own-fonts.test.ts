import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { findOwnFonts } from '../../../layers/fonts/own-fonts.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'own-fonts-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

it('finds fonts in subfolders, with hashes that change with their content', async () => {
  mkdirSync(join(folder, 'a/b'), { recursive: true });
  writeFileSync(join(folder, 'a/b/One.TTF'), '1');
  writeFileSync(join(folder, 'two.otf'), '2');
  writeFileSync(join(folder, 'license.txt'), '3');

  const before = await findOwnFonts(folder);
  writeFileSync(join(folder, 'two.otf'), 'changed');
  const after = await findOwnFonts(folder);

  expect(before.files).toEqual([join(folder, 'a/b/One.TTF'), join(folder, 'two.otf')]);
  expect(after.recipe[0]).toEqual(before.recipe[0]);
  expect(after.recipe[1]).not.toEqual(before.recipe[1]);
});

it('rejects a folder without fonts, or with two of the same name', async () => {
  await expect(findOwnFonts(folder)).rejects.toThrow('contains no .ttf, .otf or .ttc file');

  mkdirSync(join(folder, 'a'));
  writeFileSync(join(folder, 'a/one.ttf'), '1');
  writeFileSync(join(folder, 'one.ttf'), '2');

  await expect(findOwnFonts(folder)).rejects.toThrow('two files called one.ttf');
});
