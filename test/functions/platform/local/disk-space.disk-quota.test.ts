import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDiskStorage } from '../../../../functions/platform/local/disk-storage.ts';
import type { Item } from '../../../../functions/platform/table.ts';
import { openTable } from '../../../helpers/open-table.ts';
import { busiestTurn } from '../../../helpers/processes.ts';

const MAX_BYTES = 2 ** 20;
const signal = new AbortController().signal;
let root: string;
let secret: Buffer;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'quota-'));
  secret = randomBytes(32);
});
afterEach(() => rm(root, { recursive: true }));

async function open(accountBytes = MAX_BYTES) {
  const table = openTable(root);
  const directory = join(root, 'results');
  const disk = createDiskStorage({ directory, secret, urlLifetime: 60, accountBytes, table });
  await disk.load();
  const grant = (account: string) =>
    disk.at('http://localhost/files').grant({
      prefix: `${randomBytes(16).toString('hex')}/`,
      maxBytes: 2 * MAX_BYTES,
      contentType: 'image/png',
      lifetime: 60_000,
      account,
    });
  const store = async (account: string, bytes: number) => {
    const path = join(root, randomBytes(4).toString('hex'));
    await writeFile(path, Buffer.alloc(bytes));
    return disk.put(await grant(account), { path, name: 'a.png', contentType: 'image/png', bytes }, signal);
  };
  return { ...disk, table, grant, store };
}

describe('the disk space of an account', () => {
  it('holds results up to the limit', async () => {
    const disk = await open();
    await disk.store('one', MAX_BYTES - 10_000);
    await disk.store('one', 10_000);

    await expect(disk.store('one', 1)).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED', retryAfter: 3600 });
    expect(await readdir(join(root, 'results'))).toHaveLength(2);
  });

  it('is checked before a conversion begins', async () => {
    const disk = await open();
    await disk.store('one', MAX_BYTES);

    await expect(disk.grant('one')).rejects.toMatchObject({
      code: 'QUOTA_EXCEEDED',
      message:
        'The stored results of this account take 1 of at most 1 MiB, and this one does not fit. Retry when some have expired, or delete some.',
    });
  });

  it('rejects a result that does not fit, and stores nothing of it', async () => {
    const disk = await open();
    await disk.store('one', MAX_BYTES / 2);

    await expect(disk.store('one', MAX_BYTES)).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
    expect(await readdir(join(root, 'results'))).toHaveLength(1);
  });

  it('is not taken by other accounts', async () => {
    const disk = await open();
    await disk.store('one', MAX_BYTES);

    await expect(disk.store('two', MAX_BYTES)).resolves.toMatch(/a\.png$/);
  });

  it('is remembered across a restart', async () => {
    await (await open()).store('one', MAX_BYTES);

    await expect((await open()).store('one', 1)).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
  });

  it('is free again when results have expired', async () => {
    const disk = await open();
    await disk.store('one', MAX_BYTES);
    const [name] = await readdir(join(root, 'results'));
    await utimes(join(root, 'results', name!), 1, 1);

    await disk.sweep(60_000);

    await expect(disk.store('one', MAX_BYTES)).resolves.toMatch(/a\.png$/);
    await expect(disk.store('one', 1)).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
    await expect((await open()).store('one', 1)).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
  });

  it('is still taken after results of others have expired', async () => {
    const disk = await open();
    await disk.store('one', MAX_BYTES);

    await disk.sweep(60_000);

    await expect(disk.store('one', 1)).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
  });

  it('is also taken by results that are nearly empty', async () => {
    const disk = await open(5 * 8192);
    for (let stored = 0; stored < 5; stored++) await disk.store('one', 1);

    await expect(disk.store('one', 1)).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
    await expect((await open(5 * 8192)).store('one', 1)).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
  });

  it('is counted and swept without holding up other work, however many results there are', async () => {
    const disk = await open(2 ** 40);
    await disk.store('one', MAX_BYTES);
    const [{ id }] = (await Array.fromAsync(disk.table.list('stored#'))) as [Item];
    for (let index = 0; index < 20_000; index++)
      await disk.table.put({ id: id.replace(/\w+$/, `${index}`), bytes: 5 });
    const again = await open(2 ** 40);

    const { longest, total } = await busiestTurn(async () => {
      await again.inUse();
      await again.sweep(60_000);
    });

    expect(await again.inUse()).toEqual({ results: MAX_BYTES, uploads: 0 });
    expect(longest).toBeLessThan(total / 8);
    await expect((await open(MAX_BYTES)).store('one', 1)).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
  });

  it('has no limit if none is set', async () => {
    const disk = await open(0);
    await disk.store('one', MAX_BYTES);

    await expect(disk.store('one', MAX_BYTES)).resolves.toMatch(/a\.png$/);
  });

  it('does not let a tool store for another account', async () => {
    const disk = await open();
    const grant = { ...(await disk.grant('one')), account: 'two' };
    const path = join(root, 'x');
    await writeFile(path, 'x');

    const put = disk.put(grant, { path, name: 'a.png', contentType: 'image/png', bytes: 1 }, signal);

    await expect(put).rejects.toThrow('its grant is invalid');
  });
});
