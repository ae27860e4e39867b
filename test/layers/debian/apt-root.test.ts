import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAptRoot } from '../../../layers/debian/apt-root.ts';

let directory: string;
const request = (name: string) => ({
  suite: 'trixie',
  architecture: 'amd64',
  cache: join(directory, name),
  refresh: false,
  progress: () => undefined,
});

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'apt-root-'));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

describe('openAptRoot', { timeout: 120_000 }, () => {
  it("takes the signing keys from the mirror's keyring package when the machine has none", async () => {
    const root = await openAptRoot({ ...request('without'), installedKeyring: '/no/such/keyring.gpg' });

    const sources = await readFile(join(root.directory, 'sources.list'), 'utf8');
    expect(sources).toMatch(/^deb \[signed-by=[0-9A-F]{40},/);
    expect(sources).not.toContain('trusted=yes');
    expect(await readFile(join(root.directory, 'fetched'), 'utf8')).toBe('');
  });

  it('rejects lists that none of the pinned keys signed', async () => {
    const keys = ['0000000000000000000000000000000000000000'];

    await expect(openAptRoot({ ...request('strangers'), keys })).rejects.toThrow('is not signed');
  });
});
