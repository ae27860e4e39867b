import { access, readdir } from 'node:fs/promises';
import { deflateSync } from 'node:zlib';
import sharp, { type ChannelStats, type Region } from 'sharp';
import { describe, expect, it } from 'vitest';
import { createPdfEngine } from '../../../functions/engines/pdf/pdf-engine.ts';
import { createFallback } from '../../../functions/engines/pdf/pdfjs/fallback.ts';
import { createEngine } from '../../../functions/pdftools/convert.ts';
import { pdftools } from '../../../functions/pdftools/tool.ts';
import { PDF_BOMBS, picturePdf } from '../../fixtures/bombs/pdfs.ts';
import { A4, makePdf, numberedPages } from '../../fixtures/pdf.ts';
import { emptyJbig2Pdf, faxedJbig2Pdf, jpxPdf, replacedJbig2Pdf } from '../../fixtures/pdf-picture.ts';
import { ANNOTATIONS, annotatedPdf, packedPdf, pdfOf, textPdf } from '../../fixtures/pdf-text.ts';
import { readPdf } from '../../helpers/pdf.ts';
import { difference, isBlank, pixel } from '../../helpers/pixels.ts';
import { useEngine } from '../conversion.ts';

const { convert, convertOne, open, refusal } = useEngine(pdftools, createEngine);

const RED = [255, 0, 0, 255];
const BLUE = [0, 0, 255, 255];
const WHITE = [255, 255, 255, 255];
const BLACK = [0, 0, 0, 255];
/** One page of 300 x 200 points with a red square top left and a blue one bottom right. */
const small = makePdf(numberedPages(1, { width: 300, height: 200 }));

/** One red page of 300 x 200 points: its catalog, tree, page and contents are the objects 1 to 4. */
function redPdf(): string {
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R >>',
    '<< /Length 26 >>\nstream\n1 0 0 rg 0 0 300 200 re f\nendstream',
  ]).toString('latin1');
}

async function sizeOf(picture: Buffer) {
  const { width, height, format } = await sharp(picture).metadata();
  return { width, height, format };
}

describe('page size', () => {
  it('is 150 DPI by default, rounded up to whole pixels', async () => {
    const picture = await convertOne(makePdf([A4]), { format: 'png' });

    expect(await sizeOf(picture)).toEqual({ width: 1241, height: 1754, format: 'png' });
  });

  it.each([
    ['-r=72', 300, 200],
    ['-r=100', 417, 278],
    ['-r=72.5', 303, 202],
    ['-rx=144', 600, 417],
    ['-r=72 -ry=36', 300, 100],
    ['-width=600', 600, 400],
    ['-height=50', 75, 50],
    ['-width=100 -height=100', 100, 100],
    ['-width=90 -r=300', 90, 60],
    ['-scale-to=150', 150, 100],
    ['-scale-to-x=150 -scale-to-y=-1', 150, 100],
    ['-r=72 -rotate=90', 200, 300],
    ['-r=72 -rotate=-180', 300, 200],
    ['-r=72 -x=10 -y=20 -W=100 -H=50', 100, 50],
    ['-r=72 -x=250 -W=100', 50, 200],
  ])('with %s is %i x %i', async (options, width, height) => {
    const picture = await convertOne(small, { format: 'png', options });

    expect(await sizeOf(picture)).toEqual({ width, height, format: 'png' });
  });

  it('is that of the crop box, or of the media box with -cropbox=0', async () => {
    const pdf = makePdf([{ width: 300, height: 200, cropBox: [50, 20, 250, 120] }]);

    const cropped = await convertOne(pdf, { format: 'png', options: '-r=72' });
    const whole = await convertOne(pdf, { format: 'png', options: '-r=72 -cropbox=0' });

    expect(await sizeOf(cropped)).toMatchObject({ width: 200, height: 100 });
    expect(await sizeOf(whole)).toMatchObject({ width: 300, height: 200 });
  });

  it('is checked before drawing', async () => {
    const huge = makePdf([{ width: 14_400, height: 14_400 }]);

    const answer = await refusal(huge, { format: 'png', options: '-r=1200' });

    expect(answer).toMatchObject({
      code: 'RESULT_TOO_LARGE',
      message: 'Page 1 would be 240000x240000 pixels. The maximum is 100000000 pixels in total.',
    });
  });

  it('is limited to the maximum side of a JPEG', async () => {
    const long = makePdf([{ width: 10, height: 14_000 }]);

    const answer = await refusal(long, { format: 'jpg', options: '-r=360' });

    expect(answer).toMatchObject({ code: 'RESULT_TOO_LARGE' });
  });
});

describe('drawing', () => {
  it.each(['jpg', 'png', 'webp', 'avif', 'tiff'] as const)(
    'keeps colors and positions in %s',
    async (format) => {
      const picture = await convertOne(small, { format, options: '-r=72' });

      const [red, blue, white] = [
        await pixel(picture, 20, 20),
        await pixel(picture, 280, 180),
        await pixel(picture, 150, 20),
      ];
      for (const [seen, wanted] of [
        [red, RED],
        [blue, BLUE],
        [white, WHITE],
      ] as const) {
        for (const [channel, value] of seen.entries())
          expect(Math.abs(value - wanted[channel]!)).toBeLessThan(16);
      }
    },
  );

  it('rotates by the page and by -rotate', async () => {
    const turned = makePdf([{ ...numberedPages(1, { width: 300, height: 200 })[0], rotate: 90 }]);

    const byPage = await convertOne(turned, { format: 'png', options: '-r=72' });
    const byBoth = await convertOne(turned, { format: 'png', options: '-r=72 -rotate=90' });

    expect(await pixel(byPage, 180, 20)).toEqual(RED);
    expect(await pixel(byPage, 20, 280)).toEqual(BLUE);
    expect(await sizeOf(byBoth)).toMatchObject({ width: 300, height: 200 });
    expect(await pixel(byBoth, 280, 180)).toEqual(RED);
  });

  it('crops to the same pixels as cropping the whole page', async () => {
    const whole = await convertOne(small, { format: 'png', options: '-r=144' });
    const crop = await convertOne(small, { format: 'png', options: '-r=144 -x=100 -y=120 -W=200 -H=100' });

    const expected = await sharp(whole)
      .extract({ left: 100, top: 120, width: 200, height: 100 })
      .png()
      .toBuffer();
    expect(await difference(crop, expected)).toBeLessThan(0.5);
  });

  it('writes one channel with -gray', async () => {
    const picture = await convertOne(small, { format: 'png', options: '-r=72 -gray' });

    const { channels } = await sharp(picture).metadata();
    expect(channels).toBe(1);
    expect((await pixel(picture, 20, 20))[0]).toBeGreaterThan(40);
    expect((await pixel(picture, 20, 20))[0]).toBeLessThan(110);
  });

  it('writes 1-bit black and white with -mono', async () => {
    const picture = await convertOne(small, { format: 'png', options: '-r=72 -mono' });

    // Byte 24 of a PNG is its bit depth.
    expect(picture[24]).toBe(1);
    const values = new Set(await sharp(picture).toColorspace('b-w').raw().toBuffer());
    expect([...values].sort()).toEqual([0, 255]);
  });

  it('leaves out the background with -transp, but not for JPEG', async () => {
    const picture = await convertOne(small, { format: 'png', options: '-r=72 -transp' });

    expect(await pixel(picture, 150, 20)).toEqual([0, 0, 0, 0]);
    expect(await pixel(picture, 20, 20)).toEqual(RED);
    const jpg = await refusal(small, { format: 'jpg', options: '-transp' });
    expect(jpg).toMatchObject({ code: 'BAD_PARAMETER' });
  });

  // PDFium draws nothing of an invisible link, so pdf.js may show more.
  it.each(['-transp', '-transp -gray', '-transp -mono'])(
    'draws a page that PDFium leaves empty with %s',
    async (options) => {
      const pdf = pdfOf([
        '<</Type/Catalog/Pages 2 0 R>>',
        '<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 300 200]>>',
        '<</Type/Page/Parent 2 0 R/Annots[4 0 R]>>',
        '<</Type/Annot/Subtype/Link/Rect[20 20 100 80]/Border[0 0 0]/A<</S/URI/URI(http://example.com/)>>>>',
      ]);

      const picture = await convertOne(pdf, { format: 'png', options: `-r=72 ${options}` });

      expect(await sizeOf(picture)).toMatchObject({ width: 300, height: 200 });
      expect((await pixel(picture, 150, 100))[3]).toBe(0);
    },
  );

  it.each([
    ['-gray', 'red, green and blue are equal'],
    ['-mono', 'every pixel is black or white'],
  ])('removes colors from pages and fields with -transp and %s: %s', async (option) => {
    const boxes = [{ x: 0, y: 150, width: 100, height: 50, color: [0, 0.5, 1] as const }];
    const pdf = makePdf([{ width: 300, height: 200, boxes, field: ') Tj 1 0 0 rg 60 -12 80 40 re f (' }]);

    const picture = await convertOne(pdf, { format: 'png', options: `-r=72 -transp ${option}` });

    const { data, info } = await sharp(picture).raw().toBuffer({ resolveWithObject: true });
    expect(info.channels).toBe(4);
    const seen = new Set<string>();
    for (let at = 0; at < data.length; at += 4) seen.add([...data.subarray(at, at + 3)].join(' '));
    const shades = [...seen].map((color) => color.split(' '));
    for (const [red, green, blue] of shades) expect([green, blue]).toEqual([red, red]);
    if (option === '-mono') expect([...seen].sort()).toEqual(['0 0 0', '255 255 255']);
    const alpha = (x: number, y: number) => data[(y * 300 + x) * 4 + 3];
    expect([alpha(50, 25), alpha(150, 130), alpha(290, 10)]).toEqual([255, 255, 0]);
  });

  it('removes white edges with -trimimage', async () => {
    const boxes = [{ x: 100, y: 50, width: 60, height: 40, color: [0, 0, 0] as const }];

    const picture = await convertOne(makePdf([{ width: 300, height: 200, boxes }]), {
      format: 'png',
      options: '-r=72 -trimimage',
    });

    expect(await sizeOf(picture)).toMatchObject({ width: 60, height: 40 });
  });

  it('keeps outlines of one pixel with -trimimage', async () => {
    const boxes = [
      { x: 100, y: 50, width: 70, height: 1, color: [0, 0, 0] as const },
      { x: 100, y: 119, width: 70, height: 1, color: [0, 0, 0] as const },
      { x: 100, y: 50, width: 1, height: 70, color: [0, 0, 0] as const },
      { x: 169, y: 50, width: 1, height: 70, color: [0, 0, 0] as const },
    ];

    const picture = await convertOne(makePdf([{ width: 300, height: 200, boxes }]), {
      format: 'png',
      options: '-r=72 -trimimage',
    });

    expect(await sizeOf(picture)).toMatchObject({ width: 70, height: 70 });
  });

  it('draws form fields unless annotations are hidden', async () => {
    const pdf = makePdf([{ width: 300, height: 200, field: 'Value' }]);

    const picture = await convertOne(pdf, { format: 'png', options: '-r=72' });

    expect(await pixel(picture, 240, 120)).toEqual([204, 204, 204, 255]);
    const hidden = await convertOne(pdf, { format: 'png', options: '-r=72 -hide-annotations' });
    expect(await pixel(hidden, 240, 120)).toEqual(WHITE);
  });

  it('draws form fields that no form of the document lists', async () => {
    const content = '1 0 0 rg 0 0 80 60 re f';
    const pdf = pdfOf([
      '<</Type/Catalog/Pages 2 0 R>>',
      '<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 300 200]>>',
      '<</Type/Page/Parent 2 0 R/Annots[4 0 R 6 0 R]>>',
      '<</Type/Annot/Subtype/Widget/FT/Btn/F 4/Rect[20 20 100 80]/AP<</N 5 0 R>>>>',
      `<</Type/XObject/Subtype/Form/BBox[0 0 80 60]/Length ${content.length}>>\nstream\n${content}\nendstream`,
      '<</Type/Annot/Subtype/Polygon/Rect[180 20 240 80]/Vertices[180 20 240 20 240 80 180 80]/C[0 0 1]/IC[0 0 1]>>',
    ]);

    const picture = await convertOne(pdf, { format: 'png', options: '-r=72' });

    expect(await pixel(picture, 60, 150)).toEqual(RED);
    expect(await pixel(picture, 210, 150)).toEqual(BLUE);
    const hidden = await convertOne(pdf, { format: 'png', options: '-r=72 -hide-annotations' });
    expect(await pixel(hidden, 60, 150)).toEqual(WHITE);
  });

  it('draws Chinese text in a font that is not embedded', async () => {
    const boxes = [{ x: 0, y: 0, width: 10, height: 10, color: [1, 0, 0] as const }];
    const pdf = makePdf([{ width: 300, height: 200, chinese: '\u4e2d\u6587', boxes }]);

    const picture = await convertOne(pdf, { format: 'png', options: '-r=72 -gray' });

    const letters = await sharp(picture)
      .extract({ left: 60, top: 60, width: 72, height: 50 })
      .png()
      .toBuffer();
    const [shades] = (await sharp(letters).stats()).channels;
    expect(shades!.min).toBeLessThan(50);
    expect(shades!.mean).toBeLessThan(240);
  });

  it.each([
    ['jpg', '-r=200', 200],
    ['jpg', '-width=600', 144],
    ['png', '-height=100', 36],
    ['jpg', '-scale-to=900 -r=300', 216],
    ['tiff', '-width=600 -rotate=90', 216],
    ['png', '-scale-to-x=900 -x=10 -W=20', 216],
  ] as const)('writes the resolution of the page into a %s with %s: %i DPI', async (format, options, dpi) => {
    const picture = await convertOne(small, { format, options });

    expect((await sharp(picture).metadata()).density).toBeCloseTo(dpi, 0);
  });

  it('writes the resolution of each page, across and down', async () => {
    const pages = [
      { width: 300, height: 200 },
      { width: 150, height: 400 },
    ];

    const options = '-width=600 -height=400';
    const { files } = await convert(makePdf(pages), { format: 'png', options, delivery: 'paged' });

    // The chunk pHYs has the pixels per meter, across and down.
    const densities = files.map((file) => {
      const at = file.indexOf('pHYs') + 4;
      return [file.readUInt32BE(at), file.readUInt32BE(at + 4)].map((pixels) => Math.round(pixels * 0.0254));
    });
    expect(densities).toEqual([
      [144, 144],
      [288, 72],
    ]);
  });

  it('writes smaller files at a lower quality', async () => {
    const fine = await convertOne(small, { format: 'jpg', options: '-quality=95' });
    const coarse = await convertOne(small, { format: 'jpg', options: '-quality=20' });

    expect(coarse.length).toBeLessThan(fine.length * 0.8);
  });

  it('draws large images completely', async () => {
    const large = await convertOne(small, { format: 'png', options: '-width=6000' });
    const usual = await convertOne(small, { format: 'png', options: '-width=600' });

    expect(await sizeOf(large)).toMatchObject({ width: 6000, height: 4000 });
    expect(await difference(large, usual)).toBeLessThan(1);
  });
});

describe('boxes and annotations', () => {
  /** A page whose media box is inherited and larger than its crop box, with annotations that have no appearance. */
  const inherited = pdfOf([
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 300 200]>>',
    '<</Type/Page/Parent 2 0 R/CropBox[0 0 200 120]/Annots[4 0 R 5 0 R 6 0 R]>>',
    // The rectangle is inverted.
    '<</Type/Annot/Subtype/Line/Rect[60 60 20 20]/L[20 20 60 60]/C[1 0 0]/Border[0 0 6]>>',
    '<</Type/Annot/Subtype/Polygon/Rect[80 20 140 80]/Vertices[80 20 140 20 140 80 80 80]/C[0 0 1]/IC[0 0 1]>>',
    '<</Type/Annot/Subtype/PolyLine/Rect[150 20 190 60]/Vertices[150 40 190 40 190 60]/C[1 0 0]/Border[0 0 4]>>',
  ]);

  it('show an inherited media box with -cropbox=0', async () => {
    const whole = await convertOne(inherited, { format: 'png', options: '-r=72 -cropbox=0' });

    expect(await sizeOf(whole)).toMatchObject({ width: 300, height: 200 });
  });

  it('draw lines, polygons and polylines that have no appearance', async () => {
    const picture = await convertOne(inherited, { format: 'png', options: '-r=72' });

    expect(await pixel(picture, 40, 80)).toEqual(RED);
    expect(await pixel(picture, 110, 70)).toEqual(BLUE);
    expect(await pixel(picture, 170, 80)).toEqual(RED);
  });
});

describe('a link', () => {
  const RECTANGLE = '/Rect[100 50 200 150]/C[1 0 0]';

  it.each([
    ['of the width that it states', '/Border[0 0 6]', 102],
    ['of one point by default', '', 100],
  ])('has a border %s', async (_, border, x) => {
    const picture = await convertOne(linkPdf(`${RECTANGLE}${border}`), { format: 'png', options: '-r=72' });

    const [red, green] = await pixel(picture, x, 100);
    expect(red! - green!).toBeGreaterThan(100);
    expect(await pixel(picture, 150, 100)).toEqual(WHITE);
  });

  it('has no border if its width is 0, or if annotations are hidden', async () => {
    const none = linkPdf(`${RECTANGLE}/Border[0 0 0]`);
    const wide = linkPdf(`${RECTANGLE}/Border[0 0 6]`);

    const without = await convertOne(none, { format: 'png', options: '-r=72' });
    const hidden = await convertOne(wide, { format: 'png', options: '-r=72 -hide-annotations' });

    expect([await isBlank(without), await isBlank(hidden)]).toEqual([true, true]);
  });

  function linkPdf(entries: string): Buffer {
    return annotatedPdf(`/Subtype/Link${entries}/A<</S/URI/URI(https://example.com)>>`);
  }
});

describe('ink without an appearance', () => {
  it('is drawn outside a rectangle that is too small', async () => {
    const ink = annotatedPdf(
      '/Subtype/Ink/Rect[90 90 110 110]/InkList[[20 100 280 100][100 20 100 180]]/C[1 0 0]/Border[0 0 6]',
    );

    const picture = await convertOne(ink, { format: 'png', options: '-r=72' });

    expect(await pixel(picture, 100, 100)).toEqual(RED);
    expect(await pixel(picture, 30, 100)).toEqual(RED);
    expect(await pixel(picture, 100, 30)).toEqual(RED);
  });
});

describe('a text annotation without an appearance', () => {
  it('has its text, background, border and alignment', async () => {
    const picture = await convertOne(
      freeText('/Contents(IIIIIIII IIIIIIII)/DA(0 0 1 rg /Helv 60 Tf)/Q 2/C[1 0 0]/Border[0 0 6]'),
      { format: 'png', options: '-r=72' },
    );

    // Two lines, because both words do not fit into one.
    const left = await partOf(picture, { left: 40, top: 30, width: 100, height: 120 });
    const lines = [30, 99].map((top) => partOf(picture, { left: 180, top, width: 80, height: 60 }));
    expect(left.channels[2].max).toBe(0);
    for (const { channels } of await Promise.all(lines)) expect(channels[2].mean).toBeGreaterThan(20);
    expect(await pixel(picture, 23, 100)).toEqual(BLUE);
    expect(await pixel(picture, 40, 100)).toEqual(RED);
    expect(await pixel(picture, 10, 100)).toEqual(WHITE);
  });

  it.each([
    ['that is hidden', '/Contents(III)/F 2'],
    ['that Helvetica cannot write', '/Contents<FEFF6F225B57>'],
    ['that is empty', '/Contents()'],
  ])('draws nothing of a text %s', async (_, entries) => {
    const picture = await convertOne(freeText(entries), { format: 'png', options: '-r=72' });

    expect(await isBlank(picture)).toBe(true);
  });

  it.each([
    ['a size of 1e30', '/Contents(III)/DA(/Helv 1e30 Tf)'],
    ['a rectangle without width', '/Contents(III III)/Rect[100 50 100 150]'],
    ['10,000 line breaks', `/Contents(${'\\n'.repeat(9999)})`],
  ])('survives %s', async (_, entries) => {
    const picture = await convertOne(freeText(entries), { format: 'png', options: '-r=72' });

    expect(await sizeOf(picture)).toMatchObject({ width: 300, height: 200 });
  });

  async function partOf(picture: Buffer, part: Region) {
    const { channels } = await sharp(await sharp(picture).extract(part).toBuffer()).stats();
    return { channels: channels as [ChannelStats, ChannelStats, ChannelStats] };
  }

  it('is drawn beside annotations of all other kinds', async () => {
    const picture = await convertOne(annotatedPdf(...ANNOTATIONS), { format: 'png', options: '-r=72' });

    expect(await pixel(picture, 25, 15)).toEqual([255, 255, 0, 255]);
    expect(await pixel(picture, 110, 170)).toEqual(BLUE);
  });

  function freeText(entries: string): Buffer {
    return annotatedPdf(`/Subtype/FreeText/Rect[20 20 280 180]${entries}`);
  }
});

describe('annotations of a hostile document', () => {
  // The fallback would hide a crash.
  const alone = useEngine(pdftools, createPdfEngine);
  // As decimal fractions, because PDFium reads integers of this size as 0.
  const far = `${'3'.padEnd(39, '0')}.0`;

  it.each([
    ['Polygon', 12],
    ['Polygon', 2000],
    ['PolyLine', 12],
    ['PolyLine', 2000],
  ])('with coordinates of 3e38 are left out: a %s of %i corners', async (kind, count) => {
    const hostile = annotatedPdf(
      `/Subtype/${kind}/Rect[80 20 140 80]/Vertices[${`-${far} -${far} `.repeat(count)}]/C[1 0 0]/IC[1 0 0]`,
      '/Subtype/Polygon/Rect[80 20 140 80]/Vertices[80 20 140 20 140 80 80 80]/C[0 0 1]/IC[0 0 1]',
    );

    const picture = await alone.convertOne(hostile, { format: 'png', options: '-r=72' });

    expect(await pixel(picture, 110, 150)).toEqual(BLUE);
  });
});

describe('page selection', () => {
  const five = makePdf(numberedPages(5, { width: 300, height: 200 }));

  it('defaults to the first page and reports the page count', async () => {
    const { files, pageCount } = await convert(five, { format: 'png', options: '-r=72' });

    const first = await convertOne(five, { format: 'png', options: '-r=72 -f=1 -l=1' });
    expect(pageCount).toBe(5);
    expect(files).toEqual([first]);
  });

  it('stacks several pages in one image, top to bottom', async () => {
    const picture = await convertOne(five, { format: 'png', options: '-r=72 -f=2 -l=4' });

    expect(await sizeOf(picture)).toMatchObject({ width: 300, height: 600 });
    for (const [index, page] of [2, 3, 4].entries()) {
      const part = await sharp(picture)
        .extract({ left: 0, top: index * 200, width: 300, height: 200 })
        .png()
        .toBuffer();
      const alone = await convertOne(five, { format: 'png', options: `-r=72 -f=${page} -l=${page}` });
      expect(await difference(part, alone)).toBe(0);
    }
  });

  it('aligns pages of different widths left, on white', async () => {
    const mixed = makePdf([
      ...numberedPages(1, { width: 100, height: 80 }),
      ...numberedPages(1, { width: 300, height: 200 }),
    ]);

    const picture = await convertOne(mixed, { format: 'png', options: '-r=72 -f=1 -l=2' });

    expect(await sizeOf(picture)).toMatchObject({ width: 300, height: 280 });
    expect(await pixel(picture, 10, 10)).toEqual(RED);
    expect(await pixel(picture, 200, 40)).toEqual(WHITE);
    expect(await pixel(picture, 10, 90)).toEqual(RED);
  });

  it('limits the pixels of a stack', async () => {
    const many = makePdf(numberedPages(60));

    const answer = await refusal(many, { format: 'jpg', options: '-f=1 -r=150' });

    expect(answer).toMatchObject({
      code: 'RESULT_TOO_LARGE',
      message: '60 pages in one image would be 1241x105240 pixels. The maximum is 100000000 pixels in total.',
    });
  });

  it.each([
    ['-f=0 -l=0', [1, 2, 3, 4, 5]],
    ['-l=2', [1, 2]],
    ['-f=4 -l=99', [4, 5]],
    ['-pages=5,1-2,!2', [5, 1, 2, 4]],
    ['-o', [1, 3, 5]],
    ['-e -f=2 -l=4', [2, 4]],
    ['', [1, 2, 3, 4, 5]],
  ])('as files with %j are %j', async (options, expected) => {
    const { pages, files } = await convert(five, {
      format: 'png',
      options: `-r=20 ${options}`,
      delivery: 'paged',
    });

    expect(pages).toEqual(expected);
    for (const file of files) expect(await isBlank(file)).toBe(false);
  });

  it.each([
    ['-f=6', "Parameter '-f' is 6, but the document has 5 pages."],
    ['-f=3 -l=2', "Parameter '-f' (3) must not be greater than '-l' (2)."],
    ['-pages=2,7', "Parameter '-pages' contains page 7, but the document has 5 pages."],
    ['-e -f=3 -l=3', "Parameter '-e' selects no page of the document."],
    ['-pages=!6', "Parameter '-pages' contains page !6, but the document has 5 pages."],
  ])('rejects %s', async (options, message) => {
    const answer = await refusal(five, { format: 'png', options });

    expect(answer).toMatchObject({ code: 'PAGE_RANGE', message });
  });

  it('rejects -pages together with -f', async () => {
    const answer = await refusal(five, { format: 'png', options: '-f=1 -pages=2' });

    expect(answer).toMatchObject({ code: 'BAD_PARAMETER' });
  });

  it('limits files per result and pages per document', async () => {
    const files = await refusal(five, { format: 'png', delivery: 'paged', limits: { files: 4 } });
    const pages = await refusal(five, { format: 'png', limits: { pages: 4 } });

    expect(files).toMatchObject({ code: 'RESULT_TOO_LARGE' });
    expect(pages).toMatchObject({ code: 'SOURCE_TOO_LARGE' });
  });
});

describe('pages as files', () => {
  const pdf = makePdf(numberedPages(40, { width: 300, height: 200 }));

  it('arrive in order, each identical to the page drawn alone', async () => {
    const { files, pages } = await convert(pdf, { format: 'png', options: '-r=72', delivery: 'paged' });

    expect(pages).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
    const alone = await convertOne(pdf, { format: 'png', options: '-r=72 -f=23 -l=23' });
    expect(files[22]).toEqual(alone);
    expect(new Set(files.map((file) => file.toString('base64'))).size).toBe(40);
  });

  it('arrive as they are finished, and stop with the iteration', async () => {
    const { outputs, directory } = await open(pdf, { format: 'png', options: '-r=300', delivery: 'paged' });
    const iterator = (outputs as AsyncIterable<{ path: string }>)[Symbol.asyncIterator]();

    const first = await iterator.next();
    const drawnThen = (await readdir(directory)).length;
    await iterator.return?.();
    const drawnAtEnd = (await readdir(directory)).length;

    await access(first.value.path);
    expect(drawnThen).toBeLessThan(40);
    expect(drawnAtEnd).toBeLessThan(40);
  });
});

describe('unusual documents', () => {
  const locked = makePdf(numberedPages(1), { password: 'sesame' });

  it('open with the user password and with the owner password', async () => {
    const byUser = await convertOne(locked, { format: 'png', options: '-r=40 -upw=sesame' });
    const byOwner = await convertOne(locked, { format: 'png', options: '-r=40 -opw=owner' });

    const open = await convertOne(makePdf(numberedPages(1)), { format: 'png', options: '-r=40' });
    expect(byUser).toEqual(open);
    expect(byOwner).toEqual(open);
  });

  it('are reported differently for a missing and a wrong password', async () => {
    const missing = await refusal(locked, { format: 'png' });
    const wrong = await refusal(locked, { format: 'png', options: '-upw=guess' });

    expect(missing).toMatchObject({ code: 'PASSWORD_REQUIRED' });
    expect(wrong).toMatchObject({ code: 'WRONG_PASSWORD' });
  });

  it('may have junk before the header', async () => {
    const picture = await convertOne(makePdf(numberedPages(1), { junk: `${'x'.repeat(900)}\n` }), {
      format: 'png',
      options: '-r=40',
    });

    expect(await isBlank(picture)).toBe(false);
  });

  it('may lack a cross-reference table', async () => {
    const whole = makePdf(numberedPages(1)).toString('latin1');
    const cut = Buffer.from(whole.replace(/xref\n0[\s\S]*trailer/, 'trailer'), 'latin1');

    const picture = await convertOne(cut, { format: 'png', options: '-r=40' });

    expect(await isBlank(picture)).toBe(false);
  });

  it.each([
    ['after the contents', 7],
    ['before the contents', -5],
    ['at another object', -100],
  ])('may have a cross-reference table that points to a place %s', async (_, shift) => {
    const plain = redPdf();
    const place = String(plain.indexOf('4 0 obj')).padStart(10, '0');
    const wrong = String(plain.indexOf('4 0 obj') + shift).padStart(10, '0');

    const picture = await convertOne(Buffer.from(plain.replace(place, wrong), 'latin1'), { format: 'png' });

    expect(await pixel(picture, 20, 20)).toEqual(RED);
  });

  it.each([
    ['the contents', 4],
    ['the page', 3],
    ['the page tree', 2],
  ])('may have a cross-reference table that declares %s free', async (_, number) => {
    const plain = redPdf();
    const place = `${String(plain.indexOf(`${number} 0 obj`)).padStart(10, '0')} 00000 n`;
    const wrong = Buffer.from(plain.replace(place, '0000000000 00001 f'), 'latin1');

    const picture = await convertOne(wrong, { format: 'png' });

    expect(await pixel(picture, 20, 20)).toEqual(RED);
  });

  it('may lack their end', async () => {
    const plain = redPdf();
    const cut = Buffer.from(plain.slice(0, plain.indexOf('trailer') - 5), 'latin1');

    const picture = await convertOne(cut, { format: 'png' });

    expect(await pixel(picture, 20, 20)).toEqual(RED);
  });

  it('are rejected if the contents of the page are missing with their end', async () => {
    const plain = redPdf();
    const cut = Buffer.from(plain.slice(0, plain.indexOf('4 0 obj')), 'latin1');

    expect(await refusal(cut, { format: 'png' })).toMatchObject({ code: 'CORRUPT_SOURCE' });
  });

  it('may have a cross-reference stream that points to a wrong place', async () => {
    const picture = await convertOne(packedPdf('Page 1', { shift: 9 }), { format: 'png' });

    expect(await isBlank(picture)).toBe(false);
  });

  it('are rejected if they are not PDF, or too damaged', async () => {
    const html = await refusal(Buffer.from('<html><body>%PDF is not here</body></html>'), { format: 'png' });
    const empty = await refusal(Buffer.alloc(0), { format: 'png' });
    const noise = await refusal(Buffer.from(`%PDF-1.7\n${'nothing '.repeat(500)}`), { format: 'png' });

    expect(html).toMatchObject({ code: 'UNSUPPORTED_SOURCE' });
    expect(empty).toMatchObject({ code: 'UNSUPPORTED_SOURCE' });
    expect(noise).toMatchObject({ code: 'CORRUPT_SOURCE' });
  });

  it('end at the deadline, and the next one converts', async () => {
    // Half a million curves take seconds.
    const slow = makePdf([{ content: '0 0 m 100 700 500 10 50 800 c S\n'.repeat(500_000) }]);

    const late = await refusal(slow, { format: 'png', options: '-r=600', time: 500 });
    expect(late).toMatchObject({ code: 'TIMED_OUT' });

    const next = await convertOne(small, { format: 'png', options: '-r=72' });
    expect(await isBlank(next)).toBe(false);
  });
});

describe('a document that needs too much memory', () => {
  // On a busy machine, the usual time for a page can run out before the memory does.
  const times = { stall: 300_000, page: 300_000 };
  const patient = useEngine(pdftools, (dependencies) =>
    createPdfEngine(dependencies, createFallback(dependencies), times),
  );

  it.each([
    'contents of gigabytes',
    'a picture of 60000 × 60000',
    'a form in itself',
    'forms in forms, a billion',
  ])('is rejected: %s', { timeout: 300_000 }, async (name) => {
    const bomb = PDF_BOMBS.find((one) => one.name === `pdf with ${name}`)!;

    const answer = await patient.refusal(Buffer.from(await bomb.bytes()), { format: 'png', time: 300_000 });

    expect(answer).toMatchObject({ code: 'SOURCE_TOO_LARGE' });
  });

  it('does not include images of 100 megapixels, or contents of 200 MB', async () => {
    const gray = deflateSync(Buffer.alloc(100e6, 128), { level: 1 });
    const long = PDF_BOMBS.find(({ name }) => name === 'pdf with contents deflated three times')!;

    const drawn = await convertOne(picturePdf(12_500, 8000, gray), { format: 'png', options: '-r=72' });
    const empty = await convertOne(Buffer.from(await long.bytes()), { format: 'png', options: '-r=72' });

    expect(await pixel(drawn, 150, 150)).toEqual([128, 128, 128, 255]);
    expect(await sizeOf(empty)).toMatchObject({ width: 300, height: 300 });
  });
});

describe('other formats', () => {
  const five = makePdf(numberedPages(5, { width: 300, height: 200 }));

  it('write selected pages as pages of one TIFF, each with its own size', async () => {
    const mixed = makePdf([
      ...numberedPages(1, { width: 100, height: 80 }),
      ...numberedPages(1, { width: 300, height: 200 }),
    ]);

    const tiff = await convertOne(mixed, { format: 'tiff', options: '-r=144 -f=1' });

    const second = await sharp(tiff, { page: 1 }).metadata();
    expect(second).toMatchObject({ pages: 2, width: 600, height: 400, density: 144 });
    const first = await sharp(tiff, { page: 0 }).metadata();
    expect(first).toMatchObject({ width: 200, height: 160 });
    expect(await pixel(await sharp(tiff, { page: 1 }).png().toBuffer(), 20, 20)).toEqual(RED);
  });

  it('write 1-bit TIFFs with CCITT group 4 compression', async () => {
    const tiff = await convertOne(five, { format: 'tiff', options: '-r=300 -mono' });

    // The tag 259, compression, with the value 4: CCITT group 4.
    expect(tiff.includes(Buffer.from('03010300010000000400', 'hex'))).toBe(true);
    expect(tiff.length).toBeLessThan(20_000);
  });

  it('write the text of pages', async () => {
    const text = await convertOne(five, { format: 'txt', options: '-f=2 -l=3' });

    expect(text.toString()).toBe('\ufeffPage 2\n\fPage 3\n\f');
  });

  it('join words that are hyphenated at the end of a line', async () => {
    const lines = 'BT /F1 14 Tf 50 160 Td (A well-known para-) Tj 0 -16 Td (graph) Tj ET';

    const text = await convertOne(makePdf([{ content: lines }]), { format: 'txt' });

    expect(text.toString().trim()).toBe('A well-known paragraph');
  });

  it.each([
    ['of a word', 'The <quick> (quick) brown fox', 'The quick brown fox'],
    ['that is longer than its glyphs', 'The <quick yel> (abc)low brown fox', 'The quick yellow brown fox'],
    ['of several pieces', '<21.09.2023> (21) (.) (09) (.2023)', '21.09.2023'],
    ['at the start and the end of a line', '<A> (A) fox and a <dog> (dog)', 'A fox and a dog'],
    ['that is empty', 'A fox<> (hidden) and a dog', 'A fox and a dog'],
  ])('write the replacement text %s', async (_, line, expected) => {
    // The text between angle brackets stands for the glyphs in the following parentheses.
    const spans = line.split(/(<[^>]*>(?: \([^)]*\))+)/).map((part) => {
      const [, actual, glyphs] = /^<([^>]*)>((?: \([^)]*\))+)$/.exec(part) ?? [];
      if (actual === undefined) return `(${part}) Tj`;
      const shown = glyphs!
        .trim()
        .split(' ')
        .map((text) => `${text} Tj`);
      return `/Span << /ActualText (${actual}) >> BDC ${shown.join(' ')} EMC`;
    });
    const content = `BT /F1 14 Tf 20 100 Td ${spans.join(' ')} ET`;

    const text = await convertOne(makePdf([{ content }]), { format: 'txt' });

    expect(text.toString().trim()).toBe(`\ufeff${expected}`.trim());
  });

  it('write a replacement text in UTF-16 that two pages share', async () => {
    const content = 'BT /F 14 Tf 20 100 Td (one ) Tj /Span /Word BDC (two) Tj EMC ( three) Tj ET';
    const page =
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << /Font << /F << /Type /Font ' +
      '/Subtype /Type1 /BaseFont /Helvetica >> >> /Properties << /Word 5 0 R >> >> >>';
    const pdf = pdfOf([
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Count 2 /Kids [3 0 R 6 0 R] >>',
      page,
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      '<< /ActualText <FEFFD83DDE00> >>',
      page,
    ]);

    const text = await convertOne(pdf, { format: 'txt' });

    expect(text.toString()).toBe('\ufeffone 😀 three\n\fone 😀 three\n\f');
  });

  it.each([
    ['with control characters', '61 0C 62 1B 63', 'a b c'],
    ['of four bytes', 'F0 9F 98 80', '😀'],
    [
      'with bytes that are not UTF-8',
      'C3 28 61 ED A0 80 C0 AF E2 82',
      '\ufffd(a\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd',
    ],
  ])('write a replacement text in UTF-8 %s', async (_, bytes, expected) => {
    const content = `BT /F1 14 Tf 20 100 Td /Span << /ActualText <EFBBBF ${bytes}> >> BDC (x) Tj EMC ET`;

    const text = await convertOne(makePdf([{ content }]), { format: 'txt' });

    expect(text.toString()).toBe(`\ufeff${expected}\n\f`);
  });

  it('write the accents of PDFDocEncoding', async () => {
    const content = 'BT /F1 14 Tf 20 100 Td /Span << /ActualText <18191A1B1C1D1E1F80A0> >> BDC (x) Tj EMC ET';

    const text = await convertOne(makePdf([{ content }]), { format: 'txt' });

    expect(text.toString()).toBe('\ufeff˘ˇˆ˙˝˛˚˜•€\n\f');
  });

  it('fail for a page that no engine can read', async () => {
    const pdf = pdfOf([
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Count 2 /Kids [3 0 R 4 0 R] >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] >>',
      '42',
    ]);

    await expect(convertOne(pdf, { format: 'txt' })).rejects.toMatchObject({ code: 'CORRUPT_SOURCE' });
  });

  it('write the text of a document that only pdf.js can open', async () => {
    const text = await convertOne(packedPdf('Page 1', { brotli: true }), { format: 'txt' });

    expect(text.toString()).toBe('\ufeffPage 1\n\f');
  });

  it('write U+FFFD for characters whose font does not tell their meaning', async () => {
    const codes = 'BT /F1 14 Tf 50 160 Td (4\\001,\\014\\015\\002,5) Tj 0 -40 Td (6) Tj ET';

    const text = await convertOne(makePdf([{ content: codes }]), { format: 'txt' });

    expect(text.toString()).toBe('\ufeff4\ufffd,\ufffd\ufffd\ufffd,5\n6\n\f');
  });

  it('write the values of form fields unless annotations are hidden', async () => {
    const pdf = makePdf([
      { text: 'Page 1', field: 'Value 1' },
      { text: 'Page 2', field: 'Value 2' },
    ]);

    const text = await convertOne(pdf, { format: 'txt' });

    const hidden = await convertOne(pdf, { format: 'txt', options: '-hide-annotations' });
    expect(text.toString()).toBe('\ufeffPage 1\nValue 1\n\fPage 2\nValue 2\n\f');
    expect(hidden.toString()).toBe('\ufeffPage 1\n\fPage 2\n\f');
  });

  it.each([
    ['hidden', 2],
    ['not displayed', 32],
  ])('leave out the text of annotations that are %s', async (_, flags) => {
    const pdf = makePdf([{ text: 'Page', field: 'Value' }]).toString('latin1');

    const text = await convertOne(Buffer.from(pdf.replace('/F 4 ', `/F ${flags} `), 'latin1'), {
      format: 'txt',
    });

    expect(text.toString()).toBe('\ufeffPage\n\f');
  });

  it('write selected pages as PDF, rotated and decrypted', async () => {
    const locked = makePdf(numberedPages(5), { password: 'sesame' });

    const pdf = await convertOne(locked, { format: 'pdf', options: '-upw=sesame -pages=4,2 -rotate=90' });

    const { pages } = await readPdf(pdf);
    expect(pages.map(({ text }) => text)).toEqual(['Page 4', 'Page 2']);
    expect(pages[0]).toMatchObject({ width: A4.height, height: A4.width });
    expect(pdf.includes('/Linearized')).toBe(true);
  });

  it('warn that a rewritten PDF loses its signatures', async () => {
    const objects = [
      '<< /Type /Catalog /Pages 2 0 R /AcroForm << /SigFlags 3 /Fields [4 0 R] >> >>',
      '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Annots [4 0 R] >>',
      '<< /Type /Annot /Subtype /Widget /FT /Sig /T (s) /Rect [0 0 0 0] /P 3 0 R /V << /Type /Sig /Filter /Adobe.PPKLite ' +
        '/SubFilter /adbe.pkcs7.detached /ByteRange [0 10 20 10] /Contents <00> >> >>',
    ];

    const { warnings } = await convert(pdfOf(objects), { format: 'pdf' });

    expect(warnings).toEqual([
      'The signatures of the PDF are not valid in the result, because it was rewritten.',
    ]);
    expect((await convert(five, { format: 'pdf' })).warnings).toEqual([]);
    expect((await convert(pdfOf(objects), { format: 'png' })).warnings).toEqual([]);
  });

  it('do not hide annotations in a PDF, so the option is refused', async () => {
    const answer = await refusal(five, { format: 'pdf', options: '-hide-annotations' });

    expect(answer).toMatchObject({
      code: 'BAD_PARAMETER',
      message: "Parameter '-hide-annotations' has no effect on pdf output.",
    });
  });

  it('write one PDF per page', async () => {
    const { files, pages } = await convert(five, { format: 'pdf', delivery: 'paged' });

    expect(pages).toEqual([1, 2, 3, 4, 5]);
    expect((await readPdf(files[3]!)).pages).toMatchObject([{ text: 'Page 4' }]);
  });
});

describe('pictures that PDFium decodes wrong', () => {
  it.each([
    ['a JBIG2 region that replaces pixels', replacedJbig2Pdf, BLACK, WHITE],
    ['a JBIG2 region that is compressed as a fax', faxedJbig2Pdf, BLACK, WHITE],
    ['a JPEG 2000 with a palette of four bits', jpxPdf, RED, BLUE],
  ])('are drawn as they are stored: %s', async (_, make, left, right) => {
    const picture = await convertOne(make(), { format: 'png', options: '-r=72' });

    expect(await pixel(picture, 4, 4)).toEqual(left);
    expect(await pixel(picture, 12, 4)).toEqual(right);
  });

  it('are drawn even if a JBIG2 region has no coded bytes', async () => {
    const picture = await convertOne(emptyJbig2Pdf(), { format: 'png', options: '-r=72' });

    const { channels } = await sharp(picture).stats();
    expect(channels[0]!.mean).toBeCloseTo(115.5, 0);
  });
});

describe('text in fonts that are not embedded', () => {
  it.each([
    ['Arial', 'Zażółć gęślą jaźń'],
    ['TimesNewRoman,Bold', 'Příliš žluťoučký kůň'],
    ['CourierNew', 'Съешь ещё булок'],
    ['Helvetica', 'Ξεσκεπάζω την ψυχοφθόρα'],
  ])('is visible in %s: %s', async (font, text) => {
    const picture = await convertOne(textPdf(font, text), { format: 'png', options: '-r=72 -gray' });

    // Each drawn letter marks its own column of 20 points.
    const { data, info } = await sharp(picture)
      .toColorspace('b-w')
      .raw()
      .toBuffer({ resolveWithObject: true });
    const inkOf = (column: number) => {
      let ink = 0;
      for (let y = 0; y < info.height; y += 1)
        for (let x = column * 20; x < column * 20 + 20; x += 1) ink += 255 - data[y * info.width + x]!;
      return ink;
    };
    const blank = [...text].filter((letter, index) => letter !== ' ' && inkOf(index) < 500);
    expect(blank).toEqual([]);
  });

  it.each(['Calibri', 'Cambria', 'Verdana', 'Tahoma', 'Georgia'])('is bold in %s,Bold', async (family) => {
    const inkOf = async (font: string) => {
      const picture = await convertOne(textPdf(font, 'Hamburgefonts'), {
        format: 'png',
        options: '-r=72 -gray',
      });
      return 255 - (await sharp(picture).stats()).channels[0]!.mean;
    };

    const [regular, bold, italic] = await Promise.all(
      [family, `${family},Bold`, `${family},Italic`].map(inkOf),
    );

    expect(bold! / regular!).toBeGreaterThan(1.15);
    expect(italic).not.toBe(regular);
  });
});
