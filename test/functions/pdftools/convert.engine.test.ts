import { access, readdir } from 'node:fs/promises';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../functions/pdftools/convert.ts';
import { pdftools } from '../../../functions/pdftools/tool.ts';
import {
  A4,
  emptyJbig2Pdf,
  faxedJbig2Pdf,
  jpxPdf,
  makePdf,
  numberedPages,
  pdfOf,
  replacedJbig2Pdf,
  textPdf,
} from '../../fixtures/pdf.ts';
import { difference, isBlank, pixel } from '../../helpers/pixels.ts';
import { useEngine } from '../conversion.ts';
import { BLACK, BLUE, RED, sizeOf, small, WHITE } from './picture.ts';

const { convert, convertOne, open, refusal } = useEngine(pdftools, createEngine);

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
