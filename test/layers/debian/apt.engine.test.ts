import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unpackPackages } from '../../../layers/debian/apt.ts';
import { openAptRoot } from '../../../layers/debian/apt-root.ts';

const cache = join(import.meta.dirname, '../../../dist/cache/apt');
const progress = () => undefined;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'apt-test-'));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

describe('unpackPackages', () => {
  it('unpacks a package without its dependencies and returns version and hash', async () => {
    const into = join(directory, 'alone');

    const unpacked = await unpackPackages({
      packages: ['media-types'],
      dependencies: false,
      suite: 'trixie',
      into,
      cache,
      progress,
    });

    expect(unpacked).toEqual([
      {
        name: 'media-types',
        version: expect.stringMatching(/^\d/),
        architecture: 'all',
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    expect(await readFile(join(into, 'etc/mime.types'), 'utf8')).toContain('application/pdf');
  });
});

it('apt demands signatures even if the machine has told it not to', async () => {
  const root = { suite: 'trixie', architecture: 'amd64', cache, refresh: false, progress };
  const { options } = await openAptRoot(root);
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
