import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../../../../functions/engines/office/markup.ts';
import { readSections } from '../../../../../functions/engines/office/word/paragraphs.ts';
import { keepRowsTogether, tableWidthEdits } from '../../../../../functions/engines/office/word/rows.ts';
import { readStyles } from '../../../../../functions/engines/office/word/styles.ts';

/** Letters are 5 points wide, so that 20 of them fit into a column of 110.8 points, of which 10.8 are margins. */
const STYLES = `<w:styles><w:docDefaults><w:rPrDefault><w:rPr><w:sz w:val="20"/></w:rPr></w:rPrDefault></w:docDefaults>
  <w:style w:type="paragraph" w:styleId="free"><w:pPr><w:widowControl w:val="0"/></w:pPr></w:style></w:styles>`;
const COLUMN = 2216;
const lines = (count: number) => Array(count).fill('one two three four').join(' ');

const paragraph = (text: string, properties = '') =>
  `<w:p><w:pPr>${properties}</w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
const cell = (content: string, properties = '') => `<w:tc><w:tcPr>${properties}</w:tcPr>${content}</w:tc>`;
const table = (row: string, columns = 2) =>
  `<w:tbl><w:tblGrid>${`<w:gridCol w:w="${COLUMN}"/>`.repeat(columns)}</w:tblGrid>${row}</w:tbl>`;

function laidOut(row: string, columns?: number): string {
  const document = `<w:body>${table(row, columns)}<w:sectPr/></w:body>`;
  const edits = readSections(document, readStyles(STYLES, '')).flatMap(keepRowsTogether);
  return applyEdits(document, edits);
}

const isTogether = (...cells: string[]) =>
  laidOut(`<w:tr>${cells.join('')}</w:tr>`).includes('<w:cantSplit/>');

describe('a row stays together', () => {
  it.each([
    ['a paragraph of two lines beside one', [lines(2), lines(1)]],
    ['paragraphs of three lines', [lines(3), lines(3)]],
    ['a paragraph with line breaks', ['one</w:t><w:br/><w:br/><w:t>two', lines(1)]],
    ['ideographs without spaces', ['汉'.repeat(25), lines(1)]],
  ])('with %s', (_, texts) => {
    expect(isTogether(...texts.map((text) => cell(paragraph(text))))).toBe(true);
  });

  it('with a first paragraph of three lines, which is most of its height', () => {
    expect(isTogether(cell(paragraph(lines(3)) + paragraph(lines(2))))).toBe(true);
  });

  it.each([
    ['without properties', '<w:tr>', '<w:tr><w:trPr><w:cantSplit/></w:trPr>'],
    ['with empty ones', '<w:tr><w:trPr/>', '<w:tr><w:trPr><w:cantSplit/></w:trPr>'],
    ['with others', '<w:tr><w:trPr><w:jc/></w:trPr>', '<w:tr><w:trPr><w:cantSplit/><w:jc/></w:trPr>'],
  ])('%s', (_, start, expected) => {
    expect(laidOut(`${start}${cell(paragraph(lines(2)))}</w:tr>`)).toContain(`${expected}<w:tc>`);
  });
});

describe('a row may be split', () => {
  it.each([
    ['a paragraph of one line', cell(paragraph(lines(1)))],
    ['a paragraph of four lines, of which two may remain', cell(paragraph(lines(4)))],
    ['a paragraph of two lines before others', cell(paragraph(lines(2)) + paragraph(lines(2)))],
    ['paragraphs of one line', cell(paragraph(lines(1)).repeat(2))],
    ['lines without widow control', cell(paragraph(lines(2), '<w:pStyle w:val="free"/>'))],
    ['a paragraph of one line in two columns', cell(paragraph(lines(2)), '<w:gridSpan w:val="2"/>')],
    ['a cell over several rows', cell(paragraph(lines(2)), '<w:vMerge/>')],
    ['a table in a cell', cell(`${paragraph(lines(2))}${table('')}`)],
    ['an empty cell', cell('')],
    ['a picture', cell(paragraph(lines(2)) + paragraph('</w:t><w:drawing/><w:t>'))],
  ])('with %s', (_, cells) => {
    expect(isTogether(cells)).toBe(false);
  });

  it('without known widths', () => {
    expect(laidOut(`<w:tr>${cell(paragraph(lines(2)))}</w:tr>`, 0)).not.toContain('cantSplit');
  });

  it('which it says itself', () => {
    const row = `<w:tr><w:trPr><w:cantSplit w:val="1"/></w:trPr>${cell(paragraph(lines(2)))}</w:tr>`;

    expect(laidOut(row)).toContain(row);
  });
});

it('skips columns before the first cell', () => {
  const row = `<w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr>${cell(paragraph(lines(2)))}</w:tr>`;

  expect(laidOut(row, 1)).not.toContain('cantSplit');
  expect(laidOut(row)).toContain('cantSplit');
});

const grid = (...columns: number[]) =>
  `<w:tblGrid>${columns.map((width) => `<w:gridCol w:w="${width}"/>`).join('')}</w:tblGrid>`;
const wideTable = (width: string, { layout = '', columns = grid(600, 700), content = '' } = {}) =>
  `<w:tbl><w:tblPr><w:tblW ${width}/>${layout}</w:tblPr>${columns}<w:tr><w:tc>${content}<w:p/></w:tc></w:tr></w:tbl>`;
const widened = (document: string) => applyEdits(document, tableWidthEdits(document));

it('makes a table as wide as its columns', () => {
  expect(widened(wideTable('w:w="1200" w:type="dxa"'))).toBe(wideTable('w:w="1300" w:type="dxa"'));
});

it('widens a table and the one in its cell', () => {
  const nested = (outer: number, inner: number) =>
    wideTable(`w:w="${outer}" w:type="dxa"`, {
      content: wideTable(`w:w="${inner}" w:type="dxa"`, { columns: grid(300) }),
    });

  expect(widened(nested(1200, 200))).toBe(nested(1300, 300));
});

it.each([
  ['as wide as its columns', wideTable('w:w="1300" w:type="dxa"')],
  ['wider than its columns', wideTable('w:w="1400" w:type="dxa"')],
  ['of a fixed layout', wideTable('w:w="1200" w:type="dxa"', { layout: '<w:tblLayout w:type="fixed"/>' })],
  ['with a share of the page', wideTable('w:w="1200" w:type="pct"')],
  ['without a width', wideTable('w:w="0" w:type="dxa"')],
  ['without columns', wideTable('w:w="1200" w:type="dxa"', { columns: '' })],
  [
    'whose columns were wider before a tracked change',
    wideTable('w:w="1200" w:type="dxa"', {
      columns: `<w:tblGrid><w:gridCol w:w="1200"/><w:tblGridChange>${grid(600, 700)}</w:tblGridChange></w:tblGrid>`,
    }),
  ],
])('leaves a table as it is: %s', (_, document) => {
  expect(tableWidthEdits(document)).toEqual([]);
});
