import sharp, { type ChannelStats, type Region } from 'sharp';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../functions/pdftools/convert.ts';
import { pdftools } from '../../../functions/pdftools/tool.ts';
import { ANNOTATIONS, annotatedPdf, pdfOf } from '../../fixtures/pdf.ts';
import { drawPage } from '../../helpers/pdf.ts';
import { isBlank, pixel } from '../../helpers/pixels.ts';
import { useEngine, useOwnEngine } from '../conversion.ts';
import { createDrawingEngine } from './pdf-engine.ts';
import { BLUE, RED, sizeOf, WHITE } from './picture.ts';

const { convertOne } = useEngine(pdftools, createEngine);

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

describe('letters with a thin line around them', () => {
  const inkOf = async (content: string) => {
    const font = '/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>';
    const source = pdfOf([
      '<</Type/Catalog/Pages 2 0 R>>',
      '<</Type/Pages/Count 1/Kids[3 0 R]>>',
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 50]/Contents 4 0 R/Resources<<${font}>>>>`,
      `<</Length ${content.length}>>\nstream\n${content}\nendstream`,
    ]);
    const picture = await convertOne(source, { format: 'png', options: '-r=72' });
    return (await sharp(picture).toColorspace('b-w').raw().toBuffer()).reduce(
      (ink, value) => ink + 255 - value,
      0,
    );
  };
  const PLAIN = 'BT /F 14 Tf 20 20 Td (Letters in bold) Tj ET';

  it.each([
    `0.1 w BT 2 Tr ${PLAIN.slice(2)}`,
    '0.1 0 0 0.1 0 0 cm 1 w BT 2 Tr /F 140 Tf 200 200 Td (Letters in bold) Tj ET',
    '0.1 w BT 2 Tr /F 1 Tf 14 0 0 14 20 20 Tm (Letters in bold) Tj ET',
  ])('are not smeared: %s', async (content) => {
    const [thin, plain] = await Promise.all([content, PLAIN].map(inkOf));

    expect(thin! / plain!).toBeLessThan(1.6);
  });

  it('are drawn although they are white', async () => {
    expect(await inkOf(`0 0 1 1 re f 1 g 0.1 w BT 2 Tr ${PLAIN.slice(2)}`)).toBeGreaterThan(5000);
  });
});

describe('a line without an appearance', () => {
  /** Dark pixels in a part of a drawn page, in points from the top left. */
  async function inkOf(
    annotation: string,
    [left, top, width, height]: readonly [number, number, number, number],
  ) {
    const picture = await convertOne(annotatedPdf(annotation), { format: 'png', options: '-r=72' });
    const { data } = await sharp(picture)
      .extract({ left, top, width, height })
      .grayscale()
      .raw()
      .toBuffer({ resolveWithObject: true });
    return data.filter((value) => value < 128).length;
  }
  const LINE = '/Subtype/Line/Rect[50 90 250 110]/L[50 100 250 100]/C[0 0 0]';

  it.each([
    ['/BS<</W 8>>', 80],
    ['/BS<</W 6/S/S>>', 60],
    ['/Border[0 0 4]', 40],
    ['/BS<</W 2>>', 20],
    ['/BS<</W 4/S/D/D[5 5]>>', 20],
  ])('has the width and the dashes of its style: %s', async (style, expected) => {
    expect(await inkOf(LINE + style, [140, 80, 10, 40])).toBe(expected);
  });

  it.each([
    'OpenArrow',
    'ClosedArrow',
    'ROpenArrow',
    'RClosedArrow',
    'Square',
    'Circle',
    'Diamond',
    'Butt',
    'Slash',
  ])('ends with %s', async (ending) => {
    const plain = await inkOf(`${LINE}/BS<</W 2>>`, [230, 85, 40, 30]);
    const [atEnd, atStart] = [
      await inkOf(`${LINE}/BS<</W 2>>/LE[/None/${ending}]`, [230, 85, 40, 30]),
      await inkOf(`${LINE}/BS<</W 2>>/LE[/${ending}/None]`, [230, 85, 40, 30]),
    ];

    expect(atEnd).toBeGreaterThan(plain + 6);
    expect(atStart).toBe(plain);
  });

  it('becomes part of the page with -flatten', async () => {
    const flat = await convertOne(annotatedPdf(`${LINE}/BS<</W 8>>`), { format: 'pdf', options: '-flatten' });

    expect(await pixel(await drawPage(flat, 1), 150, 97)).toEqual([0, 0, 0, 255]);
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
  const alone = useOwnEngine(pdftools, (dependencies) => createDrawingEngine(dependencies));
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

describe('a form field', () => {
  const fieldsOf = (form: string, ...widgets: readonly string[]) =>
    pdfOf([
      `<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[${widgets.map((_, index) => `${index + 5} 0 R`).join(' ')}]${form}/DA(/F1 12 Tf 0 g)/DR<</Font<</F1 4 0 R>>>>>>>>`,
      '<</Type/Pages/Kids[3 0 R]/Count 1>>',
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Annots[${widgets.map((_, index) => `${index + 5} 0 R`).join(' ')}]>>`,
      '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
      ...widgets,
    ]);
  const widget = (entries: string) => `<</Type/Annot/Subtype/Widget/F 4/T(a)/DA(/F1 12 Tf 0 g)${entries}>>`;

  it('is smoothed without colors, in every row of a large picture', async () => {
    const texts = [10, 70].map((y) => widget(`/FT/Tx/V(Illicit)/Rect[20 ${y} 180 ${y + 20}]`));

    const picture = await convertOne(fieldsOf('/NeedAppearances true', ...texts), {
      format: 'png',
      options: '-r=300',
    });

    const { data, info } = await sharp(picture).removeAlpha().raw().toBuffer({ resolveWithObject: true });
    const rows = { dark: new Set<boolean>(), colored: 0 };
    for (let at = 0; at < data.length; at += 3) {
      const [red, green, blue] = data.subarray(at, at + 3);
      if (red !== green || green !== blue) rows.colored += 1;
      if (red! < 100) rows.dark.add(at / 3 / info.width < info.height / 2);
    }
    expect(rows).toEqual({ dark: new Set([true, false]), colored: 0 });
  });

  it('with choices and no value has no button', async () => {
    const entries = '/FT/Ch/Ff 131072/Opt[(North 14)]/MK<</BG[1 1 0]>>/Rect[20 40 72 60]';

    const picture = await convertOne(fieldsOf('', widget(entries)), { format: 'png', options: '-r=72' });

    expect(await pixel(picture, 64, 50)).toEqual([255, 255, 0, 255]);
  });

  it.each([
    ['is asked for', '/NeedAppearances true'],
    ['is missing', ''],
  ])('with choices shows its whole value and no button if its appearance %s', async (_, form) => {
    const entries = '/FT/Ch/Ff 131072/Opt[(North 14)]/V(North 14)/MK<</BG[1 1 0]>>/Rect[20 40 72 60]';

    const picture = await convertOne(fieldsOf(form, widget(entries)), { format: 'png', options: '-r=72' });

    // The background where the button would be, and the last digit.
    const end = sharp(picture).extract({ left: 59, top: 40, width: 12, height: 20 });
    const { channels } = await sharp(await end.png().toBuffer()).stats();
    expect(await pixel(picture, 70, 43)).toEqual([255, 255, 0, 255]);
    expect(channels[0]!.min).toBeLessThan(100);
    // Gray would have as much blue as red.
    expect(channels[2]!.max).toBe(0);
  });
});
