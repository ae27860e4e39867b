import { globSync, statSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../../layers/build/command.ts';
import { build } from '../../../layers/imagemagick/build.ts';
import { PINS } from '../../../layers/imagemagick/pins.ts';

const layer = join(import.meta.dirname, '../../../dist/layers/imagemagick');
const MIB = 2 ** 20;

beforeAll(() => build({ into: layer, progress: () => undefined }), 300_000);

describe('the imagemagick layer', () => {
  it('contains the listed coders and no others', async () => {
    const modules = (await readdir(join(layer, 'coders'))).filter((name) => name.endsWith('.so'));

    expect(modules.sort()).toEqual(Object.keys(PINS.coders).map((name) => `${name}.so`));
  });

  it('names no delegates, and denies what its policy does not name', async () => {
    expect(await readFile(join(layer, 'config/delegates.xml'), 'utf8')).not.toContain('<delegate ');
    const policy = await readFile(join(layer, 'config/policy.xml'), 'utf8');
    for (const domain of ['delegate', 'filter', 'coder', 'module']) {
      expect(policy).toContain(`<policy domain="${domain}" rights="none" pattern="*"/>`);
    }
  });

  it('needs no library of the machine', async () => {
    const lib = join(layer, 'lib');
    const loader = join(lib, (await readdir(lib)).find((name) => name.startsWith('ld-linux'))!);
    const binaries = [join(layer, 'program/imagemagick'), ...globSync(join(layer, '{coders,heif}/*.so'))];

    for (const binary of binaries) {
      const listed = await runCommand(loader, ['--library-path', lib, '--list', binary]);
      expect(listed).not.toContain('not found');
      for (const [, file] of listed.matchAll(/=> (\/\S+) \(/g)) expect(file!.startsWith(lib)).toBe(true);
    }
  });

  it('is at most 45 MiB', () => {
    const files = globSync('**', { cwd: layer, withFileTypes: true }).filter((entry) => entry.isFile());
    const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);

    expect(bytes / MIB).toBeLessThanOrEqual(45);
  });
});
