import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDecoder, type Decoder } from '../../../../functions/engines/decode/decoder.ts';
import { CODE } from '../../../../infra/local/server/temporary.ts';
import { build as buildFonts } from '../../../../layers/fonts/build.ts';
import { build } from '../../../../layers/sandbox/build.ts';

const layers = join(import.meta.dirname, '../../../../dist/layers');
const request = { account: 'a', signal: new AbortController().signal };
let temporary: string;
let decoder: Decoder;

beforeAll(async () => {
  const progress = () => undefined;
  await buildFonts({ into: join(layers, 'fonts'), progress });
  await build({ into: join(layers, 'sandbox'), progress });
  temporary = await mkdtemp(join(tmpdir(), 'decode-test-'));
  decoder = createDecoder({ layers, temporary, code: CODE, size: 1 });
}, 300_000);

afterAll(async () => {
  await decoder.close();
  await rm(temporary, { recursive: true, force: true });
});

async function decode(bytes: Buffer, encodings: readonly string[], limit = 50_000_000) {
  const directory = await mkdtemp(join(temporary, 'conversion-'));
  const [path, target] = [join(directory, 'source.encoded'), join(directory, 'source')];
  await writeFile(path, bytes);
  const size = await decoder.decode({ path, target, encodings, limit }, { ...request, directory });
  return { size, text: await readFile(target, 'utf8') };
}

it('decodes in a sandboxed worker, the last coding first', async () => {
  const { size, text } = await decode(zstdCompressSync(gzipSync('twice encoded')), ['gzip', 'zstd']);

  expect(text).toBe('twice encoded');
  expect(size).toBe(13);
});

it('stops at the limit', async () => {
  const bomb = gzipSync(gzipSync(Buffer.alloc(50_000_000)));

  await expect(decode(bomb, ['gzip', 'gzip'], 1_000_000)).rejects.toMatchObject({ code: 'SOURCE_TOO_LARGE' });
});

it('rejects a zstd window of more than 8 MB', async () => {
  const params = { [constants.ZSTD_c_windowLog]: 27, [constants.ZSTD_c_compressionLevel]: 1 };
  const frame = zstdCompressSync(Buffer.alloc(1000));
  const wide = zstdCompressSync(Buffer.alloc(20_000_000), { params });

  expect((await decode(frame, ['zstd'])).size).toBe(1000);
  await expect(decode(wide, ['zstd'], 1e9)).rejects.toMatchObject({ code: 'CORRUPT_SOURCE' });
});

it('rejects damaged compression', async () => {
  await expect(decode(Buffer.from('plain'), ['br'])).rejects.toMatchObject({ code: 'CORRUPT_SOURCE' });
});
