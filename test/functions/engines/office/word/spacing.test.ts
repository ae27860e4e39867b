import { expect, it } from 'vitest';
import { applyEdits } from '../../../../../functions/engines/office/markup.ts';
import { propertyEdits, readSections } from '../../../../../functions/engines/office/word/paragraphs.ts';
import {
  autoSpacingStyleEdits,
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
