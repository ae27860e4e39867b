import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkFiles } from '../../../layers/libreoffice/arrange.ts';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'arrange-test-'));
});

afterAll(() => rm(directory, { recursive: true }));

async function check(...[installed, kept]: string[][]) {
  const [unpacked, layer] = [join(directory, 'unpacked'), join(directory, 'layer')];
  for (const folder of [unpacked, layer]) await rm(folder, { recursive: true, force: true });
  const files = [
    ...installed!.map((path) => join(unpacked, path)),
    ...kept!.map((path) => join(layer, path)),
  ];
  for (const file of files) {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, '');
  }
  return checkFiles(unpacked, layer);
}

it.each([
  ['usr/lib/libreoffice/share/filter/new', []],
  ['usr/share/libnumbertext/en.sor', []],
  ['usr/share/new/data', ['share/other/data']],
  ['usr/lib/x86_64-linux-gnu/gconv/CP1250.so', ['lib/CP1250.so']],
])('refuses a layer that lacks %s', async (installed, kept) => {
  await expect(check([installed], kept)).rejects.toThrow(installed);
});

it('accepts files that are in the layer, and those that are left out for a reason', async () => {
  const kept = ['share/filter/a', 'share/libnumbertext/en.sor', 'lib/gconv/CP1250.so'];
  const installed = [
    'usr/lib/libreoffice/share/filter/a',
    'usr/lib/libreoffice/share/gallery/a',
    'usr/share/libnumbertext/en.sor',
    'usr/share/doc/a/copyright',
    'usr/lib/x86_64-linux-gnu/gconv/CP1250.so',
    'usr/lib/x86_64-linux-gnu/gconv/IBM037.so',
    'usr/lib/x86_64-linux-gnu/libunused.so.1',
  ];

  await expect(check(installed, kept)).resolves.toBeUndefined();
});
