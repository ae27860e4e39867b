import { describe, expect, it } from 'vitest';
import { correct, correctionsOf } from '../../../../functions/engines/office/corrections.ts';
import { readParts } from '../../../../functions/engines/office/detect/archive.ts';
import { makeArchive } from './detect/archives.ts';

const zip = (parts: Readonly<Record<string, string>>) =>
  makeArchive(Object.entries(parts).map(([name, content]) => ({ name, content })));

/** Returns the named part after the corrections, or `undefined` if the document stays as it is. */
async function corrected(kind: string, name: string, parts: Readonly<Record<string, string>>) {
  const { bytes } = await correct(zip(parts), correctionsOf(kind));
  return bytes && (await readParts(bytes, (part) => part === name)).get(name);
}

it('draws bullets, formulas and lines of the same box', async () => {
  const slide = 'ppt/slides/slide1.xml';
  const formula = '<a14:m><m:r><m:t>x</m:t></m:r></a14:m>';
  const text = await corrected('pptx', slide, {
    [slide]:
      '<p:sld><mc:AlternateContent><mc:Choice Requires="a14"><p:sp><a:bodyPr wrap="none"><a:spAutoFit/></a:bodyPr>' +
      `<a:p><a:pPr><a:buChar char="-"/></a:pPr>${formula}</a:p></p:sp></mc:Choice></mc:AlternateContent></p:sld>`,
  });

  expect(text).toMatch(
    /^<p:sld><p:sp><a:bodyPr wrap="none"><\/a:bodyPr><a:p><a:pPr><a:buFont[^<>]*><a:buChar char="-"\/><\/a:pPr><a:r>.*<\/a:r><\/a:p><\/p:sp><\/p:sld>$/,
  );
});

const value = (index: number, number: number) => `<c:pt idx="${index}"><c:v>${number}</c:v></c:pt>`;
const series = (head: string, tail = '') =>
  `<c:ser><c:idx val="0"/>${head}<c:val><c:numRef><c:numCache>${value(0, 4)}${value(1, -3)}</c:numCache></c:numRef></c:val>${tail}</c:ser>`;
const chart = (content: string, rest = '') =>
  `<c:chartSpace><c:chart><c:plotArea><c:barChart>${content}</c:barChart>${rest}</c:plotArea></c:chart></c:chartSpace>`;
const red = '<a:solidFill><a:srgbClr val="FF0000"/></a:solidFill>';

describe('a chart', () => {
  const CHART = 'xl/charts/chart1.xml';
  const inverted = '<c:invertIfNegative val="1"/>';

  it('gives negative values the color that Excel inverts to', async () => {
    const tail = `<c:extLst><c14:invertSolidFillFmt><c14:spPr>${red}</c14:spPr></c14:invertSolidFillFmt></c:extLst>`;

    const text = await corrected('xlsx', CHART, { [CHART]: chart(series(inverted, tail)) });

    expect(text).toContain(
      `<c:invertIfNegative val="0"/><c:dPt><c:idx val="1"/><c:invertIfNegative val="0"/><c:bubble3D val="0"/><c:spPr>${red}</c:spPr></c:dPt><c:val>`,
    );
  });

  it.each(['xlsx', 'pptx', 'docx'])('is corrected in a document of the kind %s', async (kind) => {
    const name = CHART.replace('xl', { xlsx: 'xl', pptx: 'ppt', docx: 'word' }[kind] ?? '');

    expect(await corrected(kind, name, { [name]: chart(series('<c:invertIfNegative/>')) })).toContain(
      '<c:dPt>',
    );
  });

  it('keeps the format that a negative value has', async () => {
    const point = '<c:dPt><c:idx val="1"/></c:dPt>';

    const text = await corrected('xlsx', CHART, { [CHART]: chart(series(inverted + point)) });

    expect(text).toBe(chart(series(`<c:invertIfNegative val="0"/>${point}`)));
  });

  it('gets labels and a legend instead of a data table that covers negative bars', async () => {
    const axis = '<c:catAx><c:tickLblPos val="nextTo"/></c:catAx>';
    const table = '<c:dTable><c:showKeys val="1"/></c:dTable>';

    const text = await corrected('xlsx', CHART, { [CHART]: chart(series(''), axis + table) });

    expect(text).not.toContain('dTable');
    expect(text).toMatch(/<c:showVal val="1"\/>.*<c:tickLblPos val="low"\/>.*<\/c:plotArea><c:legend>/);
  });

  it('stays as it is without negative values', async () => {
    const part = chart(series('').replace('-3', '3'), '<c:dTable><c:showKeys val="1"/></c:dTable>');

    expect(await corrected('xlsx', CHART, { [CHART]: part })).toBeUndefined();
  });
});

describe('a sheet', () => {
  const SHEET = 'xl/worksheets/sheet1.xml';

  it.each([
    ['_x000D_a', '\na'],
    ['a_x000d__x000A_b', 'a\nb'],
    ['_x0026_amp _x003C_', '&amp;amp &lt;'],
    ['_x005F_x000D_', '_x000D_'],
    ['a_x0000_b', 'ab'],
  ])('has the characters of the escapes in its footer: %s', async (footer, expected) => {
    const part = (text: string) =>
      `<worksheet><headerFooter><oddFooter>${text}</oddFooter></headerFooter></worksheet>`;

    expect(await corrected('xlsx', SHEET, { [SHEET]: part(footer) })).toBe(part(expected));
  });

  it('keeps escapes in its cells, which LibreOffice decodes', async () => {
    expect(
      await corrected('xlsx', SHEET, { [SHEET]: '<worksheet><t>_x000D_</t></worksheet>' }),
    ).toBeUndefined();
  });
});

describe('a cell format of Excel 365', () => {
  const STYLES = 'xl/styles.xml';
  const FEATURES = 'xl/featurePropertyBag/featurePropertyBag.xml';
  const styles =
    '<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="0"><x:xfComplement i="0"/></xf></cellXfs></styleSheet>';

  it('draws a checkbox', async () => {
    const parts = { [STYLES]: styles, [FEATURES]: '<bag type="Checkbox"/>' };

    const text = await corrected('xlsx', STYLES, parts);

    expect(text).toMatch(/^<styleSheet><numFmts count="1"><numFmt numFmtId="9000" formatCode="\[=1\]/);
    expect(text).toContain('<xf numFmtId="0"/><xf numFmtId="9000" applyNumberFormat="1"');
  });

  it('stays as it is if it has another feature', async () => {
    expect(
      await corrected('xlsx', STYLES, { [STYLES]: styles, [FEATURES]: '<bag type="Other"/>' }),
    ).toBeUndefined();
  });
});

describe('a bullet', () => {
  const SLIDE = 'ppt/slides/slide1.xml';
  const paragraph = (properties: string) =>
    `<a:p><a:pPr>${properties}</a:pPr><a:r><a:rPr><a:latin typeface="Arial"/></a:rPr><a:t>x</a:t></a:r></a:p>`;
  const box = (content: string, kind = '') => `<p:sp>${kind}<p:txBody>${content}</p:txBody></p:sp>`;
  const bullet = '<a:buChar char="•"/>';

  it('has the font of its text if the slide names none', async () => {
    const text = await corrected('pptx', SLIDE, { [SLIDE]: box(paragraph(bullet)) });

    expect(text).toBe(box(paragraph(`<a:buFont typeface="Arial"/>${bullet}`)));
  });

  it.each([
    ['it has a font', box(paragraph(`<a:buFont typeface="Symbol"/>${bullet}`))],
    [
      'its list has a font',
      box(`<a:lstStyle><a:lvl1pPr><a:buFont/></a:lvl1pPr></a:lstStyle>${paragraph(bullet)}`),
    ],
    ['it is in a placeholder', box(paragraph(bullet), '<p:ph/>')],
  ])('stays as it is because %s', async (_, slide) => {
    expect(await corrected('pptx', SLIDE, { [SLIDE]: slide })).toBeUndefined();
  });
});

describe('slides', () => {
  it.each([
    ['한글 3', true],
    ['Text 3', false],
  ])('are recognized as East Asian by their text: %s', async (text, expected) => {
    const bytes = zip({ 'ppt/slides/slide1.xml': `<a:t>${text}</a:t>` });

    expect((await correct(bytes, correctionsOf('pptx'))).isEastAsian).toBe(expected);
  });
});

it('leaves a part alone that is not well-formed', async () => {
  const { bytes } = await correct(
    zip({ 'xl/charts/chart1.xml': '<c:invertIfNegative', 'xl/styles.xml': '<a>' }),
    correctionsOf('xlsx'),
  );

  expect(bytes).toBeUndefined();
});
