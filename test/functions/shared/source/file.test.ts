import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { fileContains } from '../../../../functions/shared/source/file.ts';

it('finds a text anywhere in a file, also across the parts in which it is read', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'contains-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const path = join(directory, 'file');
  for (let before = (1 << 20) - 8; before <= 1 << 20; before++) {
    await writeFile(path, `${'x'.repeat(before)}/Encrypt`);
    expect([await fileContains(path, '/Encrypt'), await fileContains(path, '/Range', '/Encryptx')]).toEqual([
      true,
      false,
    ]);
  }
});
