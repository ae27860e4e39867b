import { expect, it } from 'vitest';
import { replacePositionTabs } from '../../../../../functions/engines/office/word/position-tabs.ts';

const BODY =
  '<w:sectPr><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:left="1440" w:right="1440" w:gutter="0"/></w:sectPr>';
const STYLES = '<w:tabs><w:tab w:val="center" w:pos="4680"/></w:tabs>';
const tab = (alignment: string) =>
  `<w:r><w:ptab w:relativeTo="margin" w:alignment="${alignment}" w:leader="none"/></w:r>`;
const STOPS =
  '<w:tab w:val="clear" w:pos="4680"/><w:tab w:val="center" w:leader="none" w:pos="4513"/><w:tab w:val="right" w:leader="none" w:pos="9026"/>';

it.each([
  ['none', '<w:p>', '', `<w:pPr><w:tabs>${STOPS}</w:tabs></w:pPr>`],
  ['some', '<w:p w:x="y">', '<w:pPr><w:b/></w:pPr>', `<w:pPr><w:tabs>${STOPS}</w:tabs><w:b/></w:pPr>`],
  ['stops', '<w:p>', '<w:pPr><w:tabs></w:tabs></w:pPr>', `<w:pPr><w:tabs>${STOPS}</w:tabs></w:pPr>`],
])('gives a paragraph tab stops if it has %s', (_, start, properties, expected) => {
  const before = '<w:p><w:r><w:t>other</w:t></w:r></w:p>';
  const part = `${before}${start}${properties}${tab('center')}${tab('right')}</w:p>`;

  const plain = '<w:r><w:tab/></w:r>';
  expect(replacePositionTabs(part, BODY, STYLES)).toBe(`${before}${start}${expected}${plain}${plain}</w:p>`);
});

it.each([
  ['w:w="4216" w:type="dxa"', '<w:tab w:val="right" w:leader="none" w:pos="4000"/>'],
  ['w:w="0" w:type="auto"', '<w:ptab '],
])('stays in a cell of a table with %s', (width, expected) => {
  const row = `<w:tr><w:tc><w:tcPr><w:tcW ${width}/></w:tcPr><w:p>${tab('right')}</w:p></w:tc></w:tr>`;
  const replaced = replacePositionTabs(`<w:tbl>${row}</w:tbl><w:p>${tab('right')}</w:p>`, BODY, '');
  const [cell, after] = replaced.split('</w:tbl>');

  expect(cell).toContain(expected);
  expect(after).toContain('w:pos="9026"');
});

it('leaves them alone if the width is not known', () => {
  const part = `<w:p>${tab('right')}</w:p>`;

  expect(replacePositionTabs(part, '', STYLES)).toBe(part);
});
