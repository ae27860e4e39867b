import { expect, it } from 'vitest';
import { applyEdits } from '../../../../../functions/engines/office/markup.ts';
import { readSections } from '../../../../../functions/engines/office/word/paragraphs.ts';
import { emptyItemEdits } from '../../../../../functions/engines/office/word/spacing.ts';
import { readStyles } from '../../../../../functions/engines/office/word/styles.ts';

const STYLES =
  '<w:styles><w:style w:type="paragraph" w:styleId="item"><w:pPr><w:numPr><w:numId w:val="7"/></w:numPr></w:pPr></w:style></w:styles>';
const NUMBER = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>';

function laidOut(properties: string, { text = '', width = 636 } = {}): string {
  const document =
    `<w:body><w:tbl><w:tblGrid><w:gridCol w:w="${width}"/></w:tblGrid><w:tr><w:tc>` +
    `<w:p><w:pPr>${properties}</w:pPr>${text}</w:p></w:tc></w:tr></w:tbl><w:sectPr/></w:body>`;
  return applyEdits(document, readSections(document, readStyles(STYLES, '')).flatMap(emptyItemEdits));
}

it.each([
  ['of a list', NUMBER],
  ['of a list of its style', '<w:pStyle w:val="item"/>'],
])('gives an item without text a tab stop at the end of its cell: %s', (_, properties) => {
  // The cell has margins of 216 twips, and a point for its border.
  expect(laidOut(properties)).toContain(
    `<w:pPr><w:tabs><w:tab w:val="left" w:pos="400"/></w:tabs>${properties}`,
  );
});

it.each([
  ['a paragraph outside lists', '<w:pStyle w:val="item"/><w:numPr><w:numId w:val="0"/></w:numPr>', {}],
  ['an item with text', NUMBER, { text: '<w:r><w:t>x</w:t></w:r>' }],
  ['a cell without a width', NUMBER, { width: 0 }],
])('does not change %s', (_, properties, options) => {
  expect(laidOut(properties, options)).not.toContain('w:tabs');
});
