import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createDiskStorage } from '../../../../functions/platform/local/disk-storage.ts';
import { createLog } from '../../../../functions/shared/log.ts';
import { DAY } from '../../../../functions/shared/time.ts';
import { sweepRegularly } from '../../../../infra/local/operation/upkeep.ts';
import { openTable } from '../../../helpers/open-table.ts';

it('removes expired results although the database cannot be cleaned', async () => {
  const swept = Promise.withResolvers<void>();
  const deleteExpired = () => {
    throw new Error('database is locked');
  };

  const stop = sweepRegularly({ sweep: async () => swept.resolve() }, DAY, { deleteExpired }, () => {});

  await swept.promise;
  stop();
});

it('logs a failed removal of expired results as an error', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'sweep-'));
  const directory = join(parent, 'results');
  const storage = createDiskStorage({
    directory,
    secret: Buffer.alloc(32),
    urlLifetime: 60,
    table: openTable(parent),
  });
  rmSync(directory, { recursive: true, force: true });
  writeFileSync(directory, 'not a directory');
  const lines: string[] = [];

  const stop = sweepRegularly(
    storage,
    DAY,
    undefined,
    createLog((line) => lines.push(line), { level: 'error' }),
  );
  await expect.poll(() => lines).toHaveLength(1);
  stop();
  rmSync(parent, { recursive: true });

  expect(JSON.parse(lines[0]!)).toMatchObject({ level: 'error', event: 'sweep failed' });
});
