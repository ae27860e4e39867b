import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unpackPackages } from '../../../layers/debian/apt.ts';
import { openAptRoot } from '../../../layers/debian/apt-root.ts';

const cache = join(import.meta.dirname, '../../../dist/cache/apt');
const progress = () => undefined;
let directory: string;
const request = (name: string) => ({
  suite: 'trixie',
  architecture: 'amd64',
  cache: join(directory, name),
  refresh: false,
  progress,
});

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'apt-root-'));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

describe('openAptRoot', () => {
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

describe('unpackPackages', () => {
  it('includes dependencies down to the C library and leaves out unwanted packages', async () => {
    const into = join(directory, 'whole');

    const unpacked = await unpackPackages({
      packages: ['hostname'],
      suite: 'trixie',
      keep: (name) => name !== 'gcc-14-base',
      into,
      cache,
      progress,
    });

    const names = unpacked.map(({ name }) => name);
    expect(names).toContain('libc6');
    expect(names).not.toContain('gcc-14-base');
    expect((await stat(join(into, 'usr/lib/x86_64-linux-gnu/libc.so.6'))).size).toBeGreaterThan(1_000_000);
  });

  it('supports two concurrent builds with one cache', async () => {
    const own = join(directory, 'cache');
    const folders = ['first', 'second'].map((name) => join(directory, name));

    const unpacked = await Promise.all(
      folders.map((into) =>
        unpackPackages({
          packages: ['media-types'],
          dependencies: false,
          suite: 'trixie',
          into,
          cache: own,
          progress,
        }),
      ),
    );

    expect(unpacked[0]).toEqual(unpacked[1]);
    for (const into of folders) expect((await stat(join(into, 'etc/mime.types'))).size).toBeGreaterThan(0);
  });

  it('rejects a package that does not exist', async () => {
    const request = {
      packages: ['no-such-package'],
      suite: 'trixie',
      into: join(directory, 'none'),
      cache,
      progress,
    };

    await expect(unpackPackages(request)).rejects.toThrow(/no-such-package/);
  });
});
