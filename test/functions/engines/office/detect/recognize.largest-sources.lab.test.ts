import { describe, expect, it } from 'vitest';
import { recognize } from '../../../../../functions/engines/office/detect/recognize.ts';
import type { Claims } from '../../../../../functions/engines/office/inputs.ts';
import { makeArchive } from './archives.ts';

const silent: Claims = { declared: undefined, name: '', contentType: '' };

describe('hostile sources of the largest size are recognized in seconds', () => {
  const SIZE = 40_000_000;

  it.each<readonly [string, () => Promise<Buffer> | Buffer]>([
    ['white space', () => Buffer.alloc(SIZE, '\n')],
    ['white space before text', () => Buffer.concat([Buffer.alloc(SIZE, ' '), Buffer.from('x')])],
    ['open angle brackets', () => Buffer.alloc(SIZE, '<')],
    ['comments without end', () => Buffer.alloc(SIZE, '<!--x')],
    ['quotes', () => Buffer.alloc(SIZE, '"')],
    ['local headers of an archive', () => Buffer.alloc(SIZE, 'PK\x03\x04aaaaaaaaaaaaaaaaaaaaaaaaaa')],
    ['a table of sectors that names itself', () => cyclicTables(SIZE)],
    [
      'content types of 100 MB',
      () => makeArchive([{ name: '[Content_Types].xml', content: sparse(100_000_000) }]),
    ],
  ])('%s', async (_, make) => {
    const bytes = await make();
    const started = Date.now();

    await recognize(bytes, { ...silent, name: 'a.csv' }).catch(() => undefined);

    // Quadratic time would be hours.
    expect(Date.now() - started).toBeLessThan(60_000);
  });
});

/** Blanks, with enough noise that the compression ratio is not that of an archive bomb. */
function sparse(length: number): Buffer {
  const bytes = Buffer.alloc(length, ' ');
  for (let at = 0; at < 800_000; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  return bytes;
}

/** A container in which every sector is a list of table sectors with the same sector 127 times. */
function cyclicTables(size: number): Buffer {
  const bytes = Buffer.alloc(size);
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(bytes);
  bytes.writeUInt16LE(9, 30);
  bytes.writeUInt32LE(1, 48);
  bytes.writeUInt32LE(0, 68);
  for (let sector = 0; (sector + 2) * 512 <= size; sector++) {
    for (let at = 0; at < 127; at++) bytes.writeUInt32LE(1, (sector + 1) * 512 + at * 4);
    bytes.writeUInt32LE(sector + 1, (sector + 1) * 512 + 508);
  }
  return bytes;
}
