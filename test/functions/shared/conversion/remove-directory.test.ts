import { existsSync, mkdtempSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { removeDirectory } from '../../../../functions/shared/conversion/remove-directory.ts';

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

it('does nothing if the directory does not exist', () => {
  expect(() => removeDirectory('/nowhere/conversion')).not.toThrow();
});
