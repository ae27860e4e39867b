import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../../../../functions/engines/office/markup.ts';
import { LINE_HEIGHTS, replaceLineGrid } from '../../../../../functions/engines/office/word/line-grid.ts';
import { propertyEdits, readSections } from '../../../../../functions/engines/office/word/paragraphs.ts';
import { readStyles } from '../../../../../functions/engines/office/word/styles.ts';
import { STAND_INS } from '../../../../../layers/fonts/stand-ins.ts';
import { ALSO_CALLED } from '../../../../../layers/fonts/substitutes.ts';

/** 10.5 points, as in Chinese documents, and a heading and a style that leaves the grid. */
const STYLES = `<w:styles>
  <w:docDefaults><w:rPrDefault><w:rPr><w:sz w:val="21"/></w:rPr></w:rPrDefault></w:docDefaults>
  <w:style w:type="paragraph" w:default="1" w:styleId="a"/>
  <w:style w:type="paragraph" w:styleId="heading"><w:basedOn w:val="a"/>
    <w:pPr><w:spacing w:before="260" w:after="260" w:line="416" w:lineRule="auto"/></w:pPr>
    <w:rPr><w:sz w:val="32"/></w:rPr></w:style>
  <w:style w:type="paragraph" w:styleId="exact"><w:pPr><w:spacing w:line="400" w:lineRule="exact"/></w:pPr></w:style>
  <w:style w:type="paragraph" w:styleId="characters"><w:rPr><w:snapToGrid w:val="0"/></w:rPr></w:style>
  <w:style w:type="character" w:styleId="large"><w:rPr><w:sz w:val="40"/></w:rPr></w:style>
  <w:style w:type="table" w:styleId="wide"><w:pPr><w:spacing w:line="480"/></w:pPr></w:style>
  <w:style w:type="paragraph" w:styleId="free"><w:pPr><w:snapToGrid w:val="0"/></w:pPr></w:style>
</w:styles>`;
const GRID = '<w:docGrid w:type="lines" w:linePitch="312"/>';
const SECTION = `<w:sectPr><w:pgSz w:w="14000"/><w:pgMar w:left="1000" w:right="1000"/>${GRID}</w:sectPr>`;

const paragraph = (properties: string, text: string) =>
  `<w:p><w:pPr>${properties}</w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
const picture = (width: number, height: number) =>
  `<w:r><w:drawing><wp:inline><wp:extent cx="${width * 12_700}" cy="${height * 12_700}"/></wp:inline></w:drawing></w:r>`;

function layOut(body: string, { section = SECTION, snapsInTables = false } = {}): string {
  const document = `<w:document><w:body>${body}${section}</w:body></w:document>`;
  const edits = readSections(document, readStyles(STYLES, '')).flatMap((each) => [
    ...replaceLineGrid(each, snapsInTables),
    ...each.paragraphs.flatMap(propertyEdits),
  ]);
  const laidOut = applyEdits(document, edits);
  return laidOut.slice('<w:document><w:body>'.length, -'</w:body></w:document>'.length);
}

/** Returns the attributes of the spacing of each paragraph. */
function spacings(body: string, options = {}): string[] {
  const found = layOut(body, options).matchAll(/<w:p\b[^>]*>(?:<w:pPr>.*?<\/w:pPr>)?/g);
  return [...found].map(([start]) => /<w:spacing ([^>]*)\/>/.exec(start)?.[1] ?? '');
}

describe('the height of a line on a grid of 15.6 points', () => {
  it.each([
    ['small text is one line of the grid', '', '汉字', 312],
    ['text as high as the grid is one line', '<w:rPr/>', '12', 312],
    ['spacing of 1.5 lines is that of the grid', '<w:spacing w:line="360"/>', '汉字', 468],
    ['the grid lines of a heading are more than its spacing', '<w:pStyle w:val="heading"/>', '标题', 624],
    [
      'a minimum is not rounded up to the grid',
      '<w:spacing w:line="375" w:lineRule="atLeast"/>',
      '汉字',
      375,
    ],
    ['a minimum below the grid', '<w:spacing w:line="285" w:lineRule="atLeast"/>', '汉字', 312],
    [
      'a minimum below two lines that its text needs',
      '<w:pStyle w:val="heading"/><w:spacing w:line="400" w:lineRule="atLeast"/>',
      '标题',
      624,
    ],
  ])('%s', (_, properties, text, line) => {
    const [spacing] = spacings(paragraph(properties, text));

    expect(spacing).toContain(`w:line="${line}" w:lineRule="atLeast"`);
  });

  it.each([
    ['12 points of SimSun', 'eastAsia="宋体"', 24, 312],
    ['12 points of YaHei', 'eastAsia="微软雅黑"', 24, 624],
    ['14 points of a font for ideographs', 'eastAsia="楷体"', 28, 624],
  ])('depends on the font: %s', (_, font, size, line) => {
    const properties = `<w:rPr><w:rFonts w:${font}/><w:sz w:val="${size}"/></w:rPr>`;

    const [spacing] = spacings(`<w:p><w:r>${properties}<w:t>汉字</w:t></w:r></w:p>`);

    expect(spacing).toContain(`w:line="${line}"`);
  });

  it.each([
    ['a style of characters', '<w:rPr><w:rStyle w:val="large"/></w:rPr><w:t>字</w:t>', 624],
    [
      'formatting after such a style',
      '<w:rPr><w:rStyle w:val="large"/><w:sz w:val="21"/></w:rPr><w:t>字</w:t>',
      312,
    ],
    ['text in CDATA', '<w:rPr><w:sz w:val="40"/></w:rPr><w:t><![CDATA[字]]></w:t>', 624],
  ])('depends on %s', (_, run, line) => {
    expect(spacings(`<w:p><w:r>${run}</w:r></w:p>`)).toEqual([`w:line="${line}" w:lineRule="atLeast"`]);
  });

  it('is that of most text if it fills more than a line', () => {
    const label = '<w:r><w:rPr><w:sz w:val="28"/></w:rPr><w:t>重点：</w:t></w:r>';
    const text = (count: number) => `<w:r><w:t>${'字'.repeat(count)}</w:t></w:r>`;

    const [short, long] = spacings(`<w:p>${label}${text(20)}</w:p><w:p>${label}${text(200)}</w:p>`);

    expect(short).toContain('w:line="624"');
    expect(long).toContain('w:line="312"');
  });

  it('does not depend on hidden text and spaces', () => {
    const large = '<w:sz w:val="72"/>';
    const hidden = `<w:r><w:rPr>${large}<w:vanish/></w:rPr><w:t>字</w:t></w:r>`;
    const space = `<w:r><w:rPr>${large}</w:rPr><w:t> </w:t></w:r>`;

    expect(spacings(`<w:p>${hidden}${space}<w:r><w:t>字</w:t></w:r></w:p>`)).toEqual([
      'w:line="312" w:lineRule="atLeast"',
    ]);
  });

  it('does not depend on whether characters are on a grid', () => {
    expect(spacings(paragraph('<w:pStyle w:val="characters"/>', '字'))).toEqual([
      'w:line="312" w:lineRule="atLeast"',
    ]);
  });

  it('keeps tags that are written as pairs', () => {
    const body = '<w:p><w:pPr><w:spacing w:after="9"></w:spacing></w:pPr></w:p>';

    expect(layOut(body)).toContain(
      '<w:pPr><w:spacing w:after="9" w:line="312" w:lineRule="atLeast"></w:spacing></w:pPr>',
    );
  });

  it('of an empty paragraph depends on its mark', () => {
    const marked = '<w:p><w:pPr><w:rPr><w:sz w:val="44"/></w:rPr></w:pPr></w:p>';

    const [small, large] = spacings(`<w:p w:rsidR="1"/>${marked}`);

    expect(small).toBe('w:line="312" w:lineRule="atLeast"');
    expect(large).toContain('w:line="624"');
  });

  it('of text around a text box does not depend on the text in it', () => {
    const box = `<w:r><w:txbxContent>${paragraph('<w:rPr/>', '<!-- -->')}</w:txbxContent></w:r>`;

    const laidOut = layOut(`<w:p>${box}<w:r><w:t>text</w:t></w:r></w:p>`);

    expect(laidOut.match(/<w:spacing w:line="312" w:lineRule="atLeast"\/>/g)).toHaveLength(2);
  });
});

describe('what is off the grid keeps its spacing', () => {
  it.each([
    ['a style without the grid', '<w:pStyle w:val="free"/>'],
    ['a paragraph without the grid', '<w:snapToGrid w:val="false"/>'],
    ['an exact height', '<w:spacing w:line="200" w:lineRule="exact"/>'],
    ['an exact height of its style', '<w:pStyle w:val="exact"/><w:spacing w:after="0"/>'],
    ['an inherited height that is exact', '<w:spacing w:lineRule="exact"/>'],
    ['a minimum of zero', '<w:spacing w:line="0" w:lineRule="atLeast"/>'],
    ['a negative height', '<w:spacing w:line="-400"/>'],
    ['a height with a unit', '<w:spacing w:line="20pt" w:lineRule="auto"/>'],
  ])('%s', (_, properties) => {
    const body = paragraph(properties, '汉字');

    expect(layOut(body)).toContain(body);
  });

  it('tables, unless the settings say otherwise', () => {
    const table = `<w:tbl><w:tr><w:tc>${paragraph('', '汉字')}</w:tc></w:tr></w:tbl>`;

    expect(layOut(table)).toContain(table);
    expect(spacings(table, { snapsInTables: true })).toEqual(['w:line="312" w:lineRule="atLeast"']);
  });

  it.each([
    ['no grid', '<w:docGrid w:linePitch="312"/>'],
    ['a grid for characters', '<w:docGrid w:type="linesAndChars" w:linePitch="312"/>'],
    ['a grid without a height', '<w:docGrid w:type="lines"/>'],
  ])('a section with %s', (_, grid) => {
    const body = paragraph('', '汉字');

    expect(layOut(body, { section: `<w:sectPr>${grid}</w:sectPr>` })).toBe(
      `${body}<w:sectPr>${grid}</w:sectPr>`,
    );
  });
});

it('takes the spacing of the style of a table', () => {
  const styled = (content: string) =>
    `<w:tbl><w:tblPr><w:tblStyle w:val="wide"/></w:tblPr><w:tr><w:tc>${content}</w:tc></w:tr></w:tbl>`;
  const nested = `<w:tbl><w:tr><w:tc>${paragraph('', 'plain')}</w:tc></w:tr></w:tbl>`;

  const lines = spacings(styled(`${nested}${paragraph('', 'wide')}`), { snapsInTables: true });

  expect(lines).toEqual(['w:line="312" w:lineRule="atLeast"', 'w:line="624" w:lineRule="atLeast"']);
});

it('applies the grid of each section to its own paragraphs, not a former one', () => {
  const former = `<w:sectPrChange><w:sectPr>${GRID}</w:sectPr></w:sectPrChange>`;
  const first = `<w:p><w:pPr><w:sectPr><w:docGrid w:linePitch="312"/>${former}</w:sectPr></w:pPr></w:p>`;

  const [one, two] = spacings(`${first}${paragraph('', 'text')}`);

  expect(one).toBe('');
  expect(two).toBe('w:line="312" w:lineRule="atLeast"');
});

describe('pictures', () => {
  it('end on the grid', () => {
    const [spacing] = spacings(`<w:p>${picture(100, 20)}</w:p>`);

    // 31.2 - 20 points.
    expect(spacing).toBe('w:line="312" w:lineRule="atLeast" w:after="224"');
  });

  it('share a line if they fit', () => {
    // The text is 600 points wide.
    const [spacing] = spacings(`<w:p>${picture(310, 20)}${picture(290, 30)}${picture(100, 15.6)}</w:p>`);

    // 31.2 - 30 points, and nothing.
    expect(spacing).toContain('w:after="24"');
  });

  it('smaller than a line add nothing', () => {
    expect(spacings(`<w:p>${picture(10, 10)}${picture(600, 12)}</w:p>`)).toEqual([
      'w:line="312" w:lineRule="atLeast"',
    ]);
  });

  it('add to the space after the paragraph, even if that is in lines', () => {
    const space = '<w:spacing w:before="20" w:afterLines="50" w:after="100"/>';

    const [spacing] = spacings(`<w:p><w:pPr>${space}</w:pPr>${picture(100, 20)}</w:p>`);

    expect(spacing).toBe('w:before="20" w:after="324" w:line="312" w:lineRule="atLeast"');
  });
});

it('knows the line heights of substitutes that are not usual, by all their names', () => {
  const heights = STAND_INS.filter(({ letters, style }) => letters !== 'symbols' && style === 'Regular')
    // Labels are not in the text.
    .filter(({ family }) => !family.endsWith(' Label'))
    .map(({ ascent, descent, lineGap, ...rest }) => ({
      ...rest,
      height: (ascent - descent + lineGap) / 1000,
    }))
    .filter(({ letters, height }) => (letters === 'ASCII' ? height !== 1.3 : Math.abs(height - 1.15) > 0.02))
    .flatMap(({ family, height }) =>
      [family, ...(ALSO_CALLED[family] ?? [])].map((name) => [name.toLowerCase(), height] as const),
    );

  expect(new Map([['calibri', 1.22], ...heights])).toEqual(new Map(LINE_HEIGHTS));
});
