import { expect, it } from 'vitest';
import { writeEquations } from '../../../../../functions/engines/office/word/equations.ts';

const run = (content: string) => `<w:r><w:rPr><w:b/></w:rPr>${content}</w:r>`;
const field = (...instructions: string[]) =>
  run('<w:fldChar w:fldCharType="begin"/>') +
  instructions.map((text) => run(`<w:instrText>${text}</w:instrText>`)).join('') +
  run('<w:fldChar w:fldCharType="end"/>');
const textOf = (part: string) => [...part.matchAll(/<[wm]:t(?: [^<>]*)?>([^<>]*)</g)].map(([, text]) => text);

it.each([
  [' EQ \\o\\ac(○,1) ', ['①']],
  [' eq \\o\\ac(○,20)', ['⑳']],
  ['EQ \\o(○,21)', ['㉑']],
  ['EQ \\o\\ac(○,B)', ['Ⓑ']],
  ['EQ \\o\\ac(○,77)', ['(77)']],
  ['EQ \\f(1,2)', ['1', '2']],
  ['EQ \\r(x)', ['x']],
  ['EQ \\r(3;x)', ['3', 'x']],
  ['EQ \\s\\up5(th)', ['\u200b', 'th']],
  ['EQ \\f(a&lt;b)', ['a', '&lt;', 'b']],
  ['EQ \\f(\\r(3),2)', ['3', '2']],
  ['EQ x+\\b\\bc\\{(\\f(a+(b),c))', ['x+', 'a+', '(', 'b', ')', 'c']],
  ['EQ \\i\\su(1,5,x)', ['1', '5', 'x']],
  ['EQ \\x(1,5)', ['1,5']],
  ['EQ \\* jc2 \\* "Font:MS Mincho" \\* hps10 \\o\\ad(\\s\\up 9(kana),kanji)', ['kanji']],
])('writes %s', (instruction, texts) => {
  const written = writeEquations(`<w:p>${field(instruction)}</w:p>`);

  expect(textOf(written)).toEqual(texts);
  expect(written).not.toContain('fldChar');
});

it.each([
  ['\\r(x)', '<m:degHide m:val="1"/>'],
  ['\\f(\\s\\do3(i),2)', '<m:num><m:sSub>'],
  ['\\a\\al\\co2(1,2,3,4)', '</m:e></m:mr><m:mr><m:e>'],
  ['\\b\\lc\\{(x)', '<m:begChr m:val="{"/><m:endChr m:val=""/>'],
  ['\\r(a&amp;b)', '<m:r><m:rPr><m:nor/></m:rPr><m:t>&amp;<'],
  ['\\b(x)', '<m:begChr m:val="("/><m:endChr m:val=")"/>'],
])('writes the formula of %s', (instruction, expected) => {
  expect(writeEquations(field(`EQ ${instruction}`))).toContain(expected);
});

it('keeps the format of the field, and reads an instruction in pieces', () => {
  expect(writeEquations(field(' EQ \\o\\ac(', '○,1)'))).toBe(run('<w:t xml:space="preserve">①</w:t>'));
});

it('leaves other fields alone', () => {
  const other = field(' PAGE ');

  expect(writeEquations(other + field('EQ \\r(x)'))).toContain(other);
});
