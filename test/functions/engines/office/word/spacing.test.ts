import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../../../../functions/engines/office/markup.ts';
import { propertyEdits, readSections } from '../../../../../functions/engines/office/word/paragraphs.ts';
import {
  autoSpacingStyleEdits,
  emptyItemEdits,
  lengthenPunctuatedLines,
  setAutoSpacing,
} from '../../../../../functions/engines/office/word/spacing.ts';
import { readStyles } from '../../../../../functions/engines/office/word/styles.ts';

const style = (spacing: string) =>
  `<w:styles><w:style w:type="paragraph" w:styleId="web"><w:pPr>${spacing}</w:pPr></w:style></w:styles>`;
const WEB = style('<w:spacing w:before="100" w:beforeAutospacing="1" w:afterAutospacing="1"/>');

it('removes automatic spacing from styles', () => {
  expect(applyEdits(WEB, autoSpacingStyleEdits(WEB))).toBe(style('<w:spacing w:before="100"/>'));
  expect(autoSpacingStyleEdits(style('<w:spacing w:before="100"/>'))).toEqual([]);
});

it.each([
  ['of its style', '<w:pStyle w:val="web"/>', 'w:beforeAutospacing="1" w:afterAutospacing="1"'],
  [
    'that replaces a part of that of its style',
    '<w:pStyle w:val="web"/><w:spacing w:after="0" w:afterAutospacing="0"/>',
    'w:after="0" w:beforeAutospacing="1"',
  ],
  ['of its own', '<w:spacing w:beforeAutospacing="on"/>', 'w:beforeAutospacing="1"'],
  ['that is off', '<w:spacing w:line="300" w:beforeAutospacing="0"/>', 'w:line="300"'],
])('writes the automatic spacing into a paragraph: %s', (_, properties, attributes) => {
  const document = `<w:body><w:p><w:pPr>${properties}</w:pPr></w:p><w:sectPr/></w:body>`;

  const edits = readSections(document, readStyles(WEB, '')).flatMap((section) => {
    setAutoSpacing(section);
    return section.paragraphs.flatMap(propertyEdits);
  });

  expect(applyEdits(document, edits)).toContain(`<w:spacing ${attributes}/>`);
});

it('changes no other paragraph', () => {
  const document = '<w:body><w:p><w:pPr><w:spacing w:after="100"/></w:pPr></w:p></w:body>';
  const [section] = readSections(document, readStyles(WEB, ''));

  setAutoSpacing(section!);

  expect(section!.paragraphs.flatMap(propertyEdits)).toEqual([]);
});

const LIST_STYLES =
  '<w:styles><w:style w:type="paragraph" w:styleId="item"><w:pPr><w:numPr><w:numId w:val="7"/></w:numPr></w:pPr></w:style></w:styles>';
const NUMBER = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>';

function laidOut(properties: string, { text = '', width = 636 } = {}): string {
  const document =
    `<w:body><w:tbl><w:tblGrid><w:gridCol w:w="${width}"/></w:tblGrid><w:tr><w:tc>` +
    `<w:p><w:pPr>${properties}</w:pPr>${text}</w:p></w:tc></w:tr></w:tbl><w:sectPr/></w:body>`;
  return applyEdits(document, readSections(document, readStyles(LIST_STYLES, '')).flatMap(emptyItemEdits));
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

const STYLES = `<w:styles>
  <w:docDefaults><w:rPrDefault><w:rPr><w:sz w:val="24"/></w:rPr></w:rPrDefault></w:docDefaults>
  <w:style w:type="paragraph" w:default="1" w:styleId="a"><w:pPr><w:jc w:val="both"/></w:pPr></w:style>
  <w:style w:type="paragraph" w:styleId="quote"><w:basedOn w:val="a"/><w:pPr><w:ind w:right="300"/></w:pPr></w:style>
</w:styles>`;
/** 30 characters of 12 points fill a line of 350 points. */
const TEXT = `${'一二三四五六七八九，'.repeat(3)}`;

const paragraph = (properties = '', text = TEXT) =>
  `<w:p><w:pPr>${properties}</w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;

function layOut(body: string, { grid = '', isCompressed = true, version = 15 } = {}): string {
  const section = `<w:sectPr><w:pgSz w:w="9000"/><w:pgMar w:left="1000" w:right="1000"/>${grid}</w:sectPr>`;
  const document = `<w:document><w:body>${body}${section}</w:body></w:document>`;
  const edits = readSections(document, readStyles(STYLES, '')).flatMap((each) => {
    lengthenPunctuatedLines(each, { isCompressed, version });
    return each.paragraphs.flatMap(propertyEdits);
  });
  return applyEdits(document, edits).slice(
    '<w:document><w:body>'.length,
    -`${section}</w:body></w:document>`.length,
  );
}

describe('a justified paragraph with punctuation', () => {
  it.each([
    ['without indents', '', '<w:ind w:right="-101"/>'],
    ['of a style with an indent', '<w:pStyle w:val="quote"/>', '<w:ind w:right="199"/>'],
    ['with another indent', '<w:ind w:firstLine="480"/>', '<w:ind w:firstLine="480" w:right="-101"/>'],
    ['with an indent at the right', '<w:ind w:end="200"/>', '<w:ind w:right="99"/>'],
  ])('has lines that are longer by 0.42 ideographs: %s', (_, properties, indent) => {
    expect(layOut(paragraph(properties))).toContain(indent);
  });

  it('has no properties of its own', () => {
    const text = `<w:r><w:t>${TEXT}</w:t></w:r>`;

    expect(layOut(`<w:p>${text}</w:p>`)).toBe(`<w:p><w:pPr><w:ind w:right="-101"/></w:pPr>${text}</w:p>`);
  });

  it('has lines that are longer by more in larger text', () => {
    const text = `<w:r><w:rPr><w:sz w:val="28"/></w:rPr><w:t>${TEXT}</w:t></w:r>`;

    expect(layOut(`<w:p>${text}</w:p>`)).toContain('<w:ind w:right="-118"/>');
  });

  it.each([
    ['that fills less than a line', paragraph('', TEXT.slice(10))],
    ['of Latin punctuation', paragraph('', TEXT.replaceAll('，', ','))],
    ['with an indent in characters', paragraph('<w:ind w:rightChars="100" w:right="240"/>')],
    ['in a table', `<w:tbl><w:tr><w:tc>${paragraph()}</w:tc></w:tr></w:tbl>`],
    ['that is centered', paragraph('<w:jc w:val="center"/>')],
  ])('stays as it is: %s', (_, body) => {
    expect(layOut(body)).toBe(body);
  });
});

it('leaves lines as they are where Word does not compress punctuation', () => {
  const left = paragraph('<w:jc w:val="left"/>');

  expect(layOut(paragraph(), { isCompressed: false })).toBe(paragraph());
  expect(layOut(paragraph(), { grid: '<w:docGrid w:type="linesAndChars"/>' })).toBe(paragraph());
  expect(layOut(left)).toBe(left);
});

it('lengthens all lines but centered and right-aligned ones in documents of Word 2010', () => {
  const layOutOld = (alignment: string) =>
    layOut(paragraph(`<w:jc w:val="${alignment}"/>`), { version: 14 }).includes('w:right=');

  expect(['left', 'start', 'center', 'right'].map(layOutOld)).toEqual([true, true, false, false]);
});
