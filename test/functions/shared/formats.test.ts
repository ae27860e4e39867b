import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import {
  checkImageSize,
  dispositionOf,
  FORMATS,
  type Format,
  readFormat,
} from '../../../functions/shared/formats.ts';

const IMAGES = ['jpg', 'png', 'webp', 'avif', 'gif', 'tiff'] as const;
const FILES = new Map<Format, Buffer>([
  ['pdf', Buffer.from('%PDF-1.7\n%âãÏÓ\n1 0 obj')],
  ['rtf', Buffer.from('{\\rtf1\\ansi Page 1}')],
  ['html', Buffer.from('<!DOCTYPE html>\n<html>')],
]);
for (const format of IMAGES) {
  const picture = sharp({ create: { width: 8, height: 8, channels: 3, background: 'teal' } });
  FILES.set(format, await picture.toFormat(format === 'jpg' ? 'jpeg' : format).toBuffer());
}

describe('the first bytes of a file', () => {
  // Any text can be a csv or a txt.
  const signed = Object.entries(FORMATS).filter(([name]) => name !== 'csv' && name !== 'txt');

  it.each([...FILES.keys()])('distinguish %s from every other format', (format) => {
    const head = FILES.get(format)!.subarray(0, 16);

    const matching = signed.filter(([, { matches }]) => matches(head));

    expect(matching.map(([name]) => name)).toEqual([format]);
  });

  it.each([
    ['an empty file', ''],
    ['an element', '<html><p>hello'],
    ['an empty archive', 'PK\x05\x06'],
    ['half a signature', '\x89PNG'],
    ['a sound', 'RIFF\0\0\0\0WAVEfmt '],
  ])('match no format for %s', (_, content) => {
    const head = Buffer.alloc(16);
    head.write(content, 'latin1');

    expect(signed.filter(([, { matches }]) => matches(head))).toEqual([]);
  });

  it.each(['docx', 'odt', 'xlsx', 'ods', 'pptx', 'odp'] as const)('of an archive match %s', (format) => {
    expect(FORMATS[format].matches(Buffer.from('PK\x03\x04'.padEnd(16, '\0'), 'latin1'))).toBe(true);
  });

  it.each([
    ['a text', 'Name,Menge\nÄpfel,', true],
    ['a short text', 'a,b\n', true],
    ['nothing', '', true],
    ['UTF-16', '\xff\xfea\0,\0b\0\n\0', true],
    ['a picture', '\x89PNG\r\n\x1a\n\0\0\0\rIHDR', false],
    ['an archive', 'PK\x03\x04\x14\0\0\0\x08\0', false],
  ])('of csv may be %s', (_, content, fits) => {
    const head = Buffer.alloc(16);
    head.write(content, 'latin1');

    expect(FORMATS.csv.matches(head)).toBe(fits);
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

  it.each(['', 'exe', 'toString', '__proto__', '.png', 'png '])('is unknown: %j', (extension) => {
    expect(readFormat(extension)).toBeUndefined();
  });
});

describe('a stored file', () => {
  it('is saved by browsers if it is HTML, which may contain scripts', () => {
    expect(dispositionOf(FORMATS.html.contentType)).toBe('attachment');
    expect(dispositionOf(FORMATS.pdf.contentType)).toBe('inline');
  });
});

describe('the size of an image', () => {
  it.each([
    [{ maxPixels: 100 }, 'The image would be 20x10 pixels. The maximum is 100 pixels in total.'],
    [
      { format: 'webp', what: 'Page 2' },
      'Page 2 would be 20000x10 pixels. The maximum for webp is 16383 pixels per side.',
    ],
  ] as const)('must fit into %o', (bounds, message) => {
    const size = { width: 'format' in bounds ? 20_000 : 20, height: 10 };

    expect(() => checkImageSize(size, bounds)).toThrow(
      expect.objectContaining({ code: 'RESULT_TOO_LARGE', message }),
    );
  });

  it('may be as large as the limit and the format allow', () => {
    expect(() =>
      checkImageSize({ width: 16_383, height: 10 }, { maxPixels: 163_830, format: 'webp' }),
    ).not.toThrow();
    expect(() => checkImageSize({ width: 2_000_000, height: 10 }, { format: 'pdf' })).not.toThrow();
  });
});
