import { expect, it } from 'vitest';
import { applyEdits } from '../../../../../functions/engines/office/markup.ts';
import { tableWidthEdits } from '../../../../../functions/engines/office/word/rows.ts';

const grid = (...columns: number[]) =>
  `<w:tblGrid>${columns.map((width) => `<w:gridCol w:w="${width}"/>`).join('')}</w:tblGrid>`;
const table = (width: string, { layout = '', columns = grid(600, 700), content = '' } = {}) =>
  `<w:tbl><w:tblPr><w:tblW ${width}/>${layout}</w:tblPr>${columns}<w:tr><w:tc>${content}<w:p/></w:tc></w:tr></w:tbl>`;
const widened = (document: string) => applyEdits(document, tableWidthEdits(document));

it('makes a table as wide as its columns', () => {
  expect(widened(table('w:w="1200" w:type="dxa"'))).toBe(table('w:w="1300" w:type="dxa"'));
});

it('widens a table and the one in its cell', () => {
  const nested = (outer: number, inner: number) =>
    table(`w:w="${outer}" w:type="dxa"`, {
      content: table(`w:w="${inner}" w:type="dxa"`, { columns: grid(300) }),
    });

  expect(widened(nested(1200, 200))).toBe(nested(1300, 300));
});

it.each([
  ['as wide as its columns', table('w:w="1300" w:type="dxa"')],
  ['wider than its columns', table('w:w="1400" w:type="dxa"')],
  ['of a fixed layout', table('w:w="1200" w:type="dxa"', { layout: '<w:tblLayout w:type="fixed"/>' })],
  ['with a share of the page', table('w:w="1200" w:type="pct"')],
  ['without a width', table('w:w="0" w:type="dxa"')],
  ['without columns', table('w:w="1200" w:type="dxa"', { columns: '' })],
  [
    'whose columns were wider before a tracked change',
    table('w:w="1200" w:type="dxa"', {
      columns: `<w:tblGrid><w:gridCol w:w="1200"/><w:tblGridChange>${grid(600, 700)}</w:tblGridChange></w:tblGrid>`,
    }),
  ],
])('leaves a table as it is: %s', (_, document) => {
  expect(tableWidthEdits(document)).toEqual([]);
});
