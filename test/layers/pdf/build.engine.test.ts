import { globSync, statSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../../layers/build/command.ts';
import { build } from '../../../layers/pdf/build.ts';

const layer = join(import.meta.dirname, '../../../dist/layers/pdf');
const MIB = 2 ** 20;

beforeAll(() => build({ into: layer, progress: () => undefined }), 300_000);

describe('the pdf layer', () => {
  it('names the version, hash and licenses of every package', async () => {
    const manifest = JSON.parse(await readFile(join(layer, 'manifest.json'), 'utf8')) as Record<
      string,
      unknown
    >[];

    expect(manifest.find(({ name }) => name === 'libqpdf30')).toMatchObject({
      version: expect.stringMatching(/^12\./),
      licenseText: expect.stringMatching(/^licenses\//),
    });
    for (const { sha256 } of manifest) expect(sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  it('needs no library of the machine', async () => {
    const [program, lib] = [join(layer, 'program'), join(layer, 'lib')];
    const loader = join(lib, (await readdir(lib)).find((name) => name.startsWith('ld-linux'))!);

    for (const name of await readdir(program)) {
      const listed = await runCommand(loader, ['--library-path', lib, '--list', join(program, name)]);
      expect(listed).not.toContain('not found');
      for (const [, file] of listed.matchAll(/=> (\/\S+) \(/g)) expect(file!.startsWith(lib)).toBe(true);
    }
  });

  it('is at most 60 MiB', () => {
    const files = globSync('**', { cwd: layer, withFileTypes: true }).filter((entry) => entry.isFile());
    const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);

    expect(bytes / MIB).toBeLessThanOrEqual(60);
  });
});
