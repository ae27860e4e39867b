import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeDirectory } from '../../../../functions/platform/local/database.ts';

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'make-directory-'));
});
afterEach(() => rmSync(parent, { recursive: true }));

it('creates a private directory and its parents', () => {
  makeDirectory(join(parent, 'a/b/c'));

  for (const path of ['a', 'a/b', 'a/b/c']) expect(statSync(join(parent, path)).mode & 0o777).toBe(0o700);
});

it('leaves a directory as it is', () => {
  mkdirSync(join(parent, 'a'), { mode: 0o755 });

  makeDirectory(join(parent, 'a'));

  expect(statSync(join(parent, 'a')).mode & 0o777).toBe(0o755);
});

it('fails where no directory can be created', () => {
  writeFileSync(join(parent, 'file'), '');

  // Node's own recursive mkdir would never return for the first one.
  expect(() => makeDirectory('/proc/docmill/data')).toThrow('ENOENT');
  expect(() => makeDirectory(join(parent, 'file'))).toThrow('EEXIST');
  expect(() => makeDirectory(join(parent, 'file/data'))).toThrow('ENOTDIR');
});
