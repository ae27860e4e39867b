import { execFile } from 'node:child_process';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { build } from '../../../layers/chromium/build.ts';
import { PINS } from '../../../layers/chromium/pins.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const into = join(root, 'dist/layers/chromium');
const run = promisify(execFile);

beforeAll(() => build({ into, progress: () => {} }));

describe('the chromium layer', () => {
  it('has the version that the driver supports', async () => {
    const { stdout } = await run(join(into, 'chromium'), ['--version'], {
      env: { LD_LIBRARY_PATH: join(into, 'lib') },
    });
    const revisions = await readFile(
      join(root, 'node_modules/puppeteer-core/lib/puppeteer/revisions.js'),
      'utf8',
    );

    const major = /chrome: '(\d+)\./.exec(revisions)?.[1];
    expect(major).toBeDefined();
    expect(stdout).toContain(` ${major}.`);
    expect(PINS.version.split('.')[0]).toBe(major);
  });

  it('uses only the C library and related libraries of the system', async () => {
    const { stdout } = await run('ldd', [join(into, 'chromium')], {
      env: { LD_LIBRARY_PATH: join(into, 'lib') },
    });

    const outside = [...stdout.matchAll(/(\S+) => (\S+)/g)]
      .filter(([, , path]) => !path!.startsWith(into))
      .map(([, name]) => name!.replace(/\.so.*/, ''));
    expect(stdout).not.toContain('not found');
    expect(new Set(outside)).toEqual(new Set(['libdl', 'libpthread', 'libm', 'libgcc_s', 'libc']));
  });

  it('contains the files in its manifest, and its license', async () => {
    const manifest = JSON.parse(await readFile(join(into, 'manifest.json'), 'utf8'));
    const { mode, size } = await stat(join(into, 'chromium'));

    expect(manifest[0]).toEqual({
      name: '@sparticuz/chromium',
      version: PINS.version,
      architecture: 'x64',
      licenses: ['MIT'],
      integrity: expect.stringMatching(/^sha512-/),
    });
    const hyphenation = Object.values(PINS.hyphenation).map((source) => source.split(' ')[0]);
    expect(
      manifest
        .slice(1)
        .map(({ name }: { name: string }) => name)
        .toSorted(),
    ).toEqual([...hyphenation, 'libc6-dev', 'libgcc-14-dev']);
    expect(await readdir(join(into, 'licenses'))).toContain('sparticuz-chromium');
    expect(mode & 0o111).toBe(0o111);
    expect(size).toBeGreaterThan(150_000_000);
  });
});
