import { describe, expect, it } from 'vitest';
import { contentTypeOf, pageName, readOutputName } from '../../../functions/shared/output-name.ts';

describe('a name of one file', () => {
  it.each([
    ['page.png', 'png', 'page.png'],
    ['page.JPG', 'jpg', 'page.JPG'],
    ['page.jpeg', 'jpg', 'page.jpeg'],
    ['page.tif', 'tiff', 'page.tif'],
    ['a.b.c.pdf', 'pdf', 'a.b.c.pdf'],
    ['two words_and-more.webp', 'webp', 'two words_and-more.webp'],
    ['Übersicht 図.avif', 'avif', 'Übersicht 図.avif'],
    ['folder/deep/page.gif', 'gif', 'page.gif'],
    ['C:\\folder\\page.png', 'png', 'page.png'],
    ['../../etc/page.png', 'png', 'page.png'],
    [' page.png ', 'png', 'page.png'],
    [`${'a'.repeat(176)}.png`, 'png', `${'a'.repeat(176)}.png`],
  ])('is read from %j', (outfile, format, name) => {
    expect(readOutputName(outfile)).toEqual({ format, outputName: { kind: 'one', name } });
  });
});

describe('a name of several files', () => {
  it.each(['page-%d.jpg', '%d.jpg', '%03d.jpg', 'a.%d.jpg', 'page%09d.jpg'])(
    'is the pattern %s',
    (pattern) => {
      expect(readOutputName(pattern)).toEqual({ format: 'jpg', outputName: { kind: 'numbered', pattern } });
    },
  );

  it.each([
    ['page-*.jpg', 'page-%d.jpg'],
    ['*.jpg', '%d.jpg'],
  ])('may be %s, which needs no encoding', (outfile, pattern) => {
    expect(readOutputName(outfile).outputName).toEqual({ kind: 'numbered', pattern });
  });

  it('contains the number once', () => {
    expect(() => readOutputName('*-*.jpg')).toThrow('at most once');
  });

  it('may be unencoded, so that %03 is decoded to a control character', () => {
    const outfile = new URLSearchParams('outfile=page-%03d.jpg').get('outfile')!;

    expect(readOutputName(outfile).outputName).toEqual({ kind: 'numbered', pattern: 'page-%03d.jpg' });
  });

  it.each([
    ['name.jpg.zip', 'name.jpg.zip', 'name-%d.jpg'],
    ['name.JPG.ZIP', 'name.JPG.ZIP', 'name-%d.JPG'],
    ['p%02d.png.zip', 'p.png.zip', 'p%02d.png'],
    ['page-%d.png.zip', 'page.png.zip', 'page-%d.png'],
    ['page_%03d of 9.png.zip', 'page of 9.png.zip', 'page_%03d of 9.png'],
    ['%d.png.zip', 'pages.png.zip', '%d.png'],
  ])('is an archive for %s', (outfile, name, pattern) => {
    expect(readOutputName(outfile).outputName).toEqual({ kind: 'archive', name, pattern });
  });
});

describe('an invalid name', () => {
  it.each([
    '.png',
    '..png',
    'a..png',
    '%d..png',
    'a/.png',
    'a|b.png',
    'a:b.png',
    'a\nb.png',
    'a\0b.png',
    'a|b.png',
    ...['<br>.png', '[Output].png', 'a%2e.png', 'a%s.png', 'a%3d.png', 'a%00d.png', 'a%.png', "a'b.png"],
    ...['a\u202eb.png', `${'a'.repeat(177)}.png`, '%d-%d.png', '%d-%02d.png.zip'],
  ])('is rejected: %j', (outfile) => {
    expect(() => readOutputName(outfile)).toThrow(expect.objectContaining({ code: 'BAD_PARAMETER' }));
  });

  it.each(['page', 'page.', 'page.exe', 'a.zip.gz', 'png', 'page.constructor', 'page.png.gz', 'page.svg'])(
    'is rejected for its extension: %j',
    (outfile) => {
      expect(() => readOutputName(outfile)).toThrow(
        `Parameter 'outfile' must end with the extension of an output format, got '${outfile}'.`,
      );
    },
  );
});

describe('the name of one page', () => {
  it.each([
    ['page-%d.jpg', 7, 'page-7.jpg'],
    ['page-%03d.jpg', 7, 'page-007.jpg'],
    ['page-%03d.jpg', 1234, 'page-1234.jpg'],
    ['%d.jpg', 10, '10.jpg'],
  ])('of %s and %i', (pattern, page, name) => {
    expect(pageName(pattern, page)).toBe(name);
  });
});

describe('the media type of a stored file', () => {
  it('is that of the format or of an archive', () => {
    const one = { kind: 'one', name: 'a.jpg' } as const;
    const archive = { kind: 'archive', name: 'a.jpg.zip', pattern: 'a-%d.jpg' } as const;

    expect(contentTypeOf({ format: 'jpg', outputName: one })).toBe('image/jpeg');
    expect(contentTypeOf({ format: 'jpg', outputName: archive })).toBe('application/zip');
  });
});
