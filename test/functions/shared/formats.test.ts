import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { FORMATS, readFormat } from '../../../functions/shared/formats.ts';
import type { Format } from '../../../functions/shared/tool.ts';

const IMAGES = ['jpg', 'png', 'webp', 'avif', 'gif', 'tiff'] as const;
const FILES = new Map<Format, Buffer>([
  ['pdf', Buffer.from('%PDF-1.7\n%âãÏÓ\n1 0 obj')],
  ['txt', Buffer.from('\ufeffPage 1')],
]);
for (const format of IMAGES) {
  const picture = sharp({ create: { width: 8, height: 8, channels: 3, background: 'teal' } });
  FILES.set(format, await picture.toFormat(format === 'jpg' ? 'jpeg' : format).toBuffer());
}

describe('the first bytes of a file', () => {
  it.each([...FILES.keys()])('tell %s from every other format', (format) => {
    const head = FILES.get(format)!.subarray(0, 16);

    const matching = Object.entries(FORMATS).filter(([, { matches }]) => matches(head));

    expect(matching.map(([name]) => name)).toEqual([format]);
  });

  it.each([
    ['an empty file', ''],
    ['a page', '<!doctype html><p>hello'],
    ['an archive', 'PK\x03\x04'],
    ['half a signature', '\x89PNG'],
    ['a sound', 'RIFF\0\0\0\0WAVEfmt '],
  ])('fit no format for %s', (_, content) => {
    const head = Buffer.alloc(16);
    head.write(content, 'latin1');

    expect(Object.values(FORMATS).filter(({ matches }) => matches(head))).toEqual([]);
  });
});

describe('an extension', () => {
  it.each([
    ['PNG', 'png'],
    ['jpeg', 'jpg'],
    ['TIF', 'tiff'],
    ['pdf', 'pdf'],
  ])('is read in any case: %s', (extension, format) => {
    expect(readFormat(extension)).toBe(format);
  });

  it.each(['', 'exe', 'toString', '__proto__', '.png', 'png '])('is none of ours: %j', (extension) => {
    expect(readFormat(extension)).toBeUndefined();
  });
});
