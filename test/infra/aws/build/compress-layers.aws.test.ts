import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fromBufferPromise } from 'yauzl';
import { archiveLayer, compressLayer } from '../../../../infra/aws/build/compress-layers.ts';

let directory: string;
let archive: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'archive-'));
  mkdirSync(join(directory, 'layer/pdf/program'), { recursive: true });
  writeFileSync(join(directory, 'layer/.recipe'), 'of the build');
  writeFileSync(join(directory, 'layer/pdf/program/host'), 'a program');
  chmodSync(join(directory, 'layer/pdf/program/host'), 0o755);
  writeFileSync(join(directory, 'layer/pdf/manifest.json'), '[]', { mode: 0o644 });
  archive = join(directory, 'layer.zip');
  await archiveLayer(join(directory, 'layer'), archive);
});
afterAll(() => rmSync(directory, { recursive: true }));

it('keeps paths and permissions of a layer, and leaves out the recipe of its build', async () => {
  const files: Array<[string, number]> = [];
  const zip = await fromBufferPromise(readFileSync(archive));
  for await (const entry of zip.eachEntry())
    files.push([entry.fileName, (entry.externalFileAttributes >>> 16) & 0o777]);

  expect(files).toEqual([
    ['pdf/manifest.json', 0o644],
    ['pdf/program/host', 0o755],
  ]);
});

it('writes the same bytes for the same files', async () => {
  const first = readFileSync(archive);
  utimesSync(join(directory, 'layer/pdf/program/host'), 1e9, 1e9);

  await archiveLayer(join(directory, 'layer'), archive);

  expect(readFileSync(archive).equals(first)).toBe(true);
});

it('writes a layer again when an update has changed its packages, but not its recipe', async () => {
  const source = join(directory, 'layer/pdf');
  const into = join(directory, 'compressed');
  const progress = () => {};
  const write = (version: string) => {
    writeFileSync(join(source, '.recipe'), 'the same');
    writeFileSync(join(source, 'manifest.json'), JSON.stringify([{ name: 'libpoppler', version }]));
    writeFileSync(join(source, 'program/host'), `program ${version}`);
  };
  const read = () => readFileSync(join(into, 'any/program/host'), 'utf8');
  write('1');
  await compressLayer('any', source, { into, progress });
  write('2');

  await compressLayer('any', source, { into, progress });

  expect(read()).toBe('program 2');
  const [copied, own] = [join(into, 'any'), source].map((folder) => statSync(join(folder, 'manifest.json')));
  expect(Math.abs(copied!.mtimeMs - own!.mtimeMs)).toBeLessThan(2);
});
