import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../functions/pdftools/convert.ts';
import { pdftools } from '../../../functions/pdftools/tool.ts';
import { pdfOf } from '../../fixtures/pdf.ts';
import { difference } from '../../helpers/pixels.ts';
import { useEngine } from '../conversion.ts';

const { convertOne } = useEngine(pdftools, createEngine);

const streamOf = (data: string, entries = '') =>
  `<</Length ${data.length}${entries}>>\nstream\n${data}\nendstream`;

async function textOf(pdf: Buffer): Promise<string> {
  const text = await convertOne(pdf, { format: 'txt' });
  return text
    .toString()
    .replace(/[\ufeff\s]+/g, ' ')
    .trim();
}

describe('a font that is not embedded', () => {
  const pdfWith = (font: string, code: string) =>
    pdfOf([
      '<</Type/Catalog/Pages 2 0 R>>',
      '<</Type/Pages/Kids[3 0 R]/Count 1>>',
      '<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 80]/Resources<</Font<</F1 5 0 R>>>>/Contents 4 0 R>>',
      streamOf(`BT /F1 36 Tf 20 30 Td <${code}> Tj ET`),
      font,
    ]);
  function glyphsPdf(name: string, glyphs: readonly number[]): Buffer {
    const system = '<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>';
    const descendant = `<</Type/Font/Subtype/CIDFontType2/BaseFont/${name}/CIDSystemInfo${system}/DW 507/CIDToGIDMap/Identity>>`;
    const font = `<</Type/Font/Subtype/Type0/BaseFont/${name}/Encoding/Identity-H/DescendantFonts[${descendant}]>>`;
    return pdfWith(font, glyphs.map((glyph) => glyph.toString(16).padStart(4, '0')).join(''));
  }

  it.each([
    ['Calibri', [940, 1005, 1006, 1009], '£125'],
    ['ABCDEF+Calibri-Bold', [17, 386, 258], 'Böa'],
    ['ArialMT', [42, 129, 137, 178], 'Güß—'],
    ['TimesNewRomanPS-BoldMT', [36, 227, 254, 571], 'AščБ'],
  ])('has the glyph numbers of %s', async (name, glyphs, text) => {
    expect(await textOf(glyphsPdf(name, glyphs))).toBe(text);
  });

  it('is drawn as one whose codes are characters', async () => {
    const simple = pdfWith(
      '<</Type/Font/Subtype/TrueType/BaseFont/Calibri/Encoding/WinAnsiEncoding>>',
      'a3313235',
    );
    const options = { format: 'png' } as const;

    const [numbered, drawn] = [
      await convertOne(glyphsPdf('Calibri', [940, 1005, 1006, 1009]), options),
      await convertOne(simple, options),
    ];
    expect(await difference(numbered, drawn)).toBeLessThan(0.01);
  });
});

it('leaves out the text of hidden layers', async () => {
  const shown = (text: string, y: number) => `BT /F 12 Tf 10 ${y} Td (${text}) Tj ET`;
  const form = (text: string, entries = '') =>
    streamOf(shown(text, 20), `/Type/XObject/Subtype/Form/BBox[0 0 300 300]/Resources 6 0 R${entries}`);
  const marked = (layer: string, content: string) => `/OC /${layer} BDC ${content} EMC`;
  const pdf = pdfOf([
    '<</Type/Catalog/Pages 2 0 R/OCProperties<</OCGs[7 0 R 8 0 R]/D<</OFF[8 0 R]>>>>>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Resources 6 0 R/Contents 4 0 R>>',
    streamOf(
      [
        shown('plain', 280),
        marked('On', shown('on', 260)),
        marked('Off', shown('off', 240)),
        marked('AllOn', shown('not all', 220)),
        marked('AnyOn', shown('any', 200)),
        '1 0 0 1 0 150 cm /Marked Do /Form Do',
        marked('Off', '/Off Do'),
        ...['Not', 'Or', 'Direct'].map((name, index) => marked(name, shown(name, index * 20))),
      ].join('\n'),
    ),
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    '<</Font<</F 5 0 R>>/Properties<</On 7 0 R/Off 8 0 R/AllOn 9 0 R/AnyOn 10 0 R/Not 14 0 R/Or 15 0 R/Direct<</Type/OCMD/OCGs 8 0 R>>>>' +
      '/XObject<</Marked 11 0 R/Form 12 0 R/Off 13 0 R>>>>',
    '<</Type/OCG/Name(on)>>',
    '<</Type/OCG/Name(off)>>',
    '<</Type/OCMD/OCGs[7 0 R 8 0 R]/P/AllOn>>',
    '<</Type/OCMD/OCGs[7 0 R 8 0 R]>>',
    form('hidden form', '/OC 8 0 R'),
    streamOf(
      marked('Off', shown('in a form', 20)),
      '/Type/XObject/Subtype/Form/BBox[0 0 300 300]/Resources 6 0 R',
    ),
    form('marked form'),
    '<</Type/OCMD/OCGs 7 0 R/VE[/And 7 0 R[/Not 7 0 R]]>>',
    '<</Type/OCMD/OCGs 8 0 R/VE[/Or[/Not 7 0 R][/Not 8 0 R]]>>',
  ]);

  expect(await textOf(pdf)).toBe('plain on any Or');
});

it('applies the unit of a page to its size and to what is drawn on it', async () => {
  const source = pdfOf([
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 100 50]/UserUnit 3/Contents 4 0 R>>',
    streamOf(''),
  ]);
  const sizeOf = async (pdf: Buffer, options: string) => {
    const { width, height } = await sharp(await convertOne(pdf, { format: 'png', options })).metadata();
    return [width, height];
  };

  expect(await sizeOf(source, '-r=72')).toEqual([300, 150]);
  expect(JSON.parse(String(await convertOne(source, { format: 'json' }))).pages[0]).toMatchObject({
    width: 300,
  });
  // A letter of 30 points: 10 units of the page.
  const marked = await convertOne(source, {
    format: 'pdf',
    options: '-watermark=I -watermark-size=30 -watermark-angle=0',
  });
  const [, height] = await sizeOf(marked, '-r=72 -trimimage');
  expect(height).toBeGreaterThan(18);
  expect(height).toBeLessThan(26);
});
