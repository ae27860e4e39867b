import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../../../../functions/engines/office/markup.ts';
import { propertyEdits, readSections } from '../../../../../functions/engines/office/word/paragraphs.ts';
import { lengthenPunctuatedLines } from '../../../../../functions/engines/office/word/spacing.ts';
import { readStyles } from '../../../../../functions/engines/office/word/styles.ts';

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
