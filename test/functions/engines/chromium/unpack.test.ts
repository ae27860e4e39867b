import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ZipFile } from 'yazl';
import { unpack } from '../../../../functions/engines/chromium/unpack.ts';

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'unpack-'));
});

afterAll(() => rmSync(directory, { recursive: true }));

it('keeps the first of the entries with one name, whole and without the others', async () => {
  const zip = new ZipFile();
  const large = 'a'.repeat(3_000_000);
  for (const [name, content] of [
    ['index.html', large],
    ['index.html', 'second'],
    ['style.css', 'p{}'],
    ['index.html', 'third'],
  ] as const)
    zip.addBuffer(Buffer.from(content), name);
  zip.end();
  const [path, target] = [join(directory, 'page.zip'), join(directory, 'content')];
  writeFileSync(path, await buffer(zip.outputStream as NodeJS.ReadableStream));

  const entries = await unpack({ path, target });

  const content = readFileSync(target, 'latin1');
  const found = entries.map(({ name, start, bytes }) => [name, content.slice(start, start + bytes)]);
  expect(found).toEqual([
    ['index.html', large],
    ['style.css', 'p{}'],
  ]);
});
