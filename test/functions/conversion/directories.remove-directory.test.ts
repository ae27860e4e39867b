import fs, { existsSync, mkdtempSync, truncateSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { removeDirectory } from '../../../functions/conversion/directories.ts';

it.for([
  { bytes: 1000, waits: false },
  { bytes: 50_000_000, waits: true },
])('deletes $bytes bytes', async ({ bytes, waits }) => {
  const directory = mkdtempSync(join(tmpdir(), 'remove-'));
  writeFileSync(join(directory, 'source'), 'x');
  truncateSync(join(directory, 'source'), bytes);

  const removed = removeDirectory(directory);

  expect(existsSync(directory)).toBe(waits);
  await removed;
  expect(existsSync(directory)).toBe(false);
});

it('deletes many files without blocking', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'remove-'));
  for (let index = 0; index < 100; index++) writeFileSync(join(directory, String(index)), '');

  const removed = removeDirectory(directory);

  expect(existsSync(directory)).toBe(true);
  await removed;
  expect(existsSync(directory)).toBe(false);
});

it('deletes later what cannot be deleted now', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'remove-'));
  writeFileSync(join(directory, 'source'), 'x');
  const fault = Object.assign(new Error('too many open files'), { code: 'EMFILE' });
  vi.spyOn(fs, 'rmSync').mockImplementationOnce(() => {
    throw fault;
  });
  syncBuiltinESMExports();

  await removeDirectory(directory);

  vi.restoreAllMocks();
  syncBuiltinESMExports();
  expect(existsSync(directory)).toBe(false);
});

it('does nothing if the directory does not exist', async () => {
  await expect(Promise.resolve(removeDirectory('/nowhere/conversion'))).resolves.toBeUndefined();
});
