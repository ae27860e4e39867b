import { expect, it } from 'vitest';
import { applyEdits } from '../../../../../functions/engines/office/markup.ts';
import { labelEdits } from '../../../../../functions/engines/office/word/fields.ts';

const level = (fonts: string) =>
  `<w:numbering><w:abstractNum><w:lvl w:ilvl="1"><w:lvlText w:val="o"/><w:rPr><w:rFonts ${fonts}/></w:rPr></w:lvl></w:abstractNum></w:numbering>`;

it('gives labels in Courier New the font for labels', () => {
  const numbering = level('w:ascii="Courier New" w:hAnsi="Courier New" w:cs="Arial" w:hint="default"');

  expect(applyEdits(numbering, labelEdits(numbering))).toBe(
    level('w:ascii="Courier New Label" w:hAnsi="Courier New Label" w:cs="Arial" w:hint="default"'),
  );
});

it.each([
  ['another font', level('w:ascii="Symbol" w:hAnsi="Symbol"')],
  [
    'no level',
    '<w:numbering><w:style><w:rPr><w:rFonts w:ascii="Courier New"/></w:rPr></w:style></w:numbering>',
  ],
])('changes nothing else: %s', (_, numbering) => {
  expect(labelEdits(numbering)).toEqual([]);
});
