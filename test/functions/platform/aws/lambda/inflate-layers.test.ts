import { lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { COMPRESSED, inflateLayers } from '../../../../../functions/platform/aws/lambda/inflate-layers.ts';

describe('inflating layers', () => {
  let directory: string;
  let layers: string;
  let into: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'inflate-'));
    layers = join(directory, 'opt');
    into = join(directory, 'tmp');
  });
  afterEach(() => rm(directory, { recursive: true }));

  const place = async (path: string, content: string | Buffer) => {
    await mkdir(dirname(join(layers, path)), { recursive: true });
    await writeFile(join(layers, path), content);
  };
  const placeFolded = async (later = '[]') => {
    await place('office/program/big.so.zst', zstdCompressSync(Buffer.from('big')));
    await place('office/program/small.so', 'small');
    await place('office/share/deep/text', 'text');
    const first = '[{"path":"program/big.so","mode":493,"bytes":3}]';
    await place(`office/${COMPRESSED}`, `{"first":${first},"later":${later}}`);
  };

  it('links a layer without compressed files', async () => {
    await place('fonts/faces/a.ttf', 'face');

    const { layers: shown, whole } = await inflateLayers(layers, into);
    await whole;

    expect(shown).toBe(into);
    expect(await readFile(join(into, 'fonts/faces/a.ttf'), 'utf8')).toBe('face');
  });

  it('inflates compressed files next to others, with their permissions', async () => {
    await placeFolded();

    await inflateLayers(layers, into);

    expect(await readFile(join(into, 'office/program/big.so'), 'utf8')).toBe('big');
    expect((await stat(join(into, 'office/program/big.so'))).mode & 0o777).toBe(0o755);
    expect(await readFile(join(into, 'office/program/small.so'), 'utf8')).toBe('small');
    expect(await readFile(join(into, 'office/share/deep/text'), 'utf8')).toBe('text');
  });

  it('gives folders the time for which caches of fonts are valid', async () => {
    await placeFolded();

    await inflateLayers(layers, into);

    expect((await stat(join(into, 'office/program'))).mtimeMs).toBe(0);
  });

  it('links a whole folder without compressed files', async () => {
    await placeFolded();

    await inflateLayers(layers, into);

    expect((await lstat(join(into, 'office/share'))).isSymbolicLink()).toBe(true);
    expect((await lstat(join(into, 'office/program'))).isDirectory()).toBe(true);
  });

  it('is complete when the deferred files are inflated', async () => {
    await placeFolded('[{"path":"program/late.so","mode":420,"bytes":4}]');
    await place('office/program/late.so.zst', zstdCompressSync(Buffer.from('late')));

    const { whole } = await inflateLayers(layers, into);
    await whole;

    expect(await readFile(join(into, 'office/program/late.so'), 'utf8')).toBe('late');
  });

  it('ignores partially inflated files of an earlier start', async () => {
    await placeFolded();
    await mkdir(join(into, 'office/program'), { recursive: true });
    await writeFile(join(into, 'office/program/big.so'), 'bi');

    await inflateLayers(layers, into);

    expect(await readFile(join(into, 'office/program/big.so'), 'utf8')).toBe('big');
  });

  it('creates no file if the compressed one is broken', async () => {
    await placeFolded();
    await place('office/program/big.so.zst', 'no zstd');

    await expect(inflateLayers(layers, into)).rejects.toThrow();

    expect(await readdir(join(into, 'office/program'))).not.toContain('big.so');
  });

  it('can be repeated in the same folder', async () => {
    await placeFolded();
    await inflateLayers(layers, into);

    const { whole } = await inflateLayers(layers, into);

    await expect(whole).resolves.toBeUndefined();
  });

  it('ignores files next to the layers', async () => {
    await place('fonts/a', 'a');
    await writeFile(join(layers, 'stray'), '');

    await inflateLayers(layers, into);

    expect(await readdir(into)).toEqual(['fonts']);
  });
});
