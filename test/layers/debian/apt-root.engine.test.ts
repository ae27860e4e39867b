import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
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

describe('openAptRoot', () => {
  it("takes the signing keys from the mirror's keyring package when the machine has none", async () => {
    const root = await openAptRoot({ ...request('without'), installedKeyring: '/no/such/keyring.gpg' });

    const sources = await readFile(join(root.directory, 'sources.list'), 'utf8');
    expect(sources).toMatch(/^deb \[signed-by=[0-9A-F]{40},/);
    expect(sources).not.toContain('trusted=yes');
    expect(await readFile(join(root.directory, 'fetched'), 'utf8')).toBe('');
  });

  it('demands signatures even if the machine has told apt not to', async () => {
    const { options } = await openAptRoot({
      ...request('without'),
      installedKeyring: '/no/such/keyring.gpg',
    });
    const names = [
      'APT::Get::AllowUnauthenticated',
      'Acquire::AllowInsecureRepositories',
      'Acquire::AllowWeakRepositories',
      'Acquire::AllowDowngradeToInsecureRepositories',
    ];
    const config = join(directory, 'careless.conf');
    await writeFile(config, names.map((name) => `${name} "true";\n`).join(''));
    const env = { ...process.env, APT_CONFIG: config };

    const dump = (args: readonly string[]) => {
      const { stdout } = spawnSync('apt-config', [...args, 'dump'], { env, encoding: 'utf8' });
      return names.map((name) => new RegExp(`^${name} "(.*)";$`, 'm').exec(stdout)?.[1]);
    };

    expect(dump([])).toEqual(names.map(() => 'true'));
    expect(dump(options)).toEqual(names.map(() => 'false'));
  });

  it('rejects lists that none of the pinned keys signed', async () => {
    const keys = ['0000000000000000000000000000000000000000'];

    await expect(openAptRoot({ ...request('strangers'), keys })).rejects.toThrow('is not signed');
  });
});
