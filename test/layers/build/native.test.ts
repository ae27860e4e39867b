import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listedFiles } from '../../../layers/build/native.ts';

it('finds libraries in folders with spaces in the list of a real loader', () => {
  const temporary = mkdtempSync(join(tmpdir(), 'libraries-'));
  const directory = join(temporary, 'a folder (1)');
  mkdirSync(directory);
  const list = (folder: string) =>
    execFileSync('/lib64/ld-linux-x86-64.so.2', ['--library-path', folder, '--list', process.execPath], {
      encoding: 'utf8',
    });
  const own = listedFiles(list('/nowhere'));
  for (const file of own) copyFileSync(file, join(directory, file.slice(file.lastIndexOf('/') + 1)));

  const found = listedFiles(list(directory));
  rmSync(temporary, { recursive: true });

  expect(own.length).toBeGreaterThan(2);
  expect(found.sort()).toEqual(
    own.map((file) => join(directory, file.slice(file.lastIndexOf('/') + 1))).sort(),
  );
});
