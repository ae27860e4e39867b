import { expect, it } from 'vitest';
import { applyEdits } from '../../../../../functions/engines/office/markup.ts';
import { pageFieldEdits } from '../../../../../functions/engines/office/word/page-fields.ts';

const run = (content: string) => `<w:r>${content}</w:r>`;
const mark = (type: string) => run(`<w:fldChar w:fldCharType="${type}"/>`);
const code = (text: string) => run(`<w:instrText>${text}</w:instrText>`);
const shown = (text: string) => run(`<w:t>${text}</w:t>`);
const field = (instruction: string, result: string) =>
  mark('begin') + instruction + mark('separate') + result + mark('end');
const page = field(code(' PAGE '), shown('1'));
const pages = field(code('NUMPAGES'), shown('3'));
const hex = (text: string) =>
  `x${[...text].map((each) => each.charCodeAt(0).toString(16).padStart(4, '0')).join('')}`;

/** Returns the program that a paragraph gets, or its text if it gets none. */
function programOf(content: string): string {
  const part = `<w:ftr><w:p>${content}</w:p></w:ftr>`;
  const edited = applyEdits(part, pageFieldEdits(part));
  return /DOCPROPERTY docmill_(\S+)/.exec(edited)?.[1] ?? edited.replace(/<[^>]*>/g, '');
}

it.each([
  [
    'a condition',
    code('IF ') + page + code(' = ') + pages + code(' "last page" more \\* MERGEFORMAT'),
    `page_pages_eq_${hex('last page')}_${hex('more')}_if`,
  ],
  ['arithmetic', code('=(') + pages + code('-1)*2'), `pages_${hex('1')}_sub_${hex('2')}_mul`],
  ['a format', code('=') + page + code(' \\* roman'), `page_${hex('3')}_numbering`],
  ['a picture', code('=') + page + code(' \\# "00"'), `page_${hex('00')}_picture`],
  [
    'nested fields, also those with saved results',
    code('IF MOD = "') +
      field(code('STYLEREF x'), shown('a')) +
      code('" "p ') +
      page +
      code('" "') +
      field(code('=') + page + code('+1'), shown('2')) +
      code('"'),
    `${hex('MOD')}_${hex('a')}_eq_${hex('p ')}_shown_cat_page_${hex('1')}_add_if`,
  ],
  ['a function', code('=mod(') + page + code('; 2)'), `page_${hex('2')}_mod`],
])('turns %s into a program', (_, instruction, program) => {
  expect(programOf(field(instruction, shown('saved')))).toBe(program);
});

it.each([
  ['an unknown name', code('=') + page + code('+Total')],
  ['an unknown switch', code('=') + page + code(' \\* Ordinal')],
  ['a condition without an operator', code('IF ') + page + code(' 1 "a" "b"')],
  ['more than 2000 characters of steps', code('=') + page + code('+1'.repeat(500))],
])('shows the saved result of a field with %s', (_, instruction) => {
  expect(programOf(field(instruction, shown('saved &amp; kept')))).toBe('saved &amp; kept');
});

it.each([
  ['does not depend on the page', field(code('=1+1'), shown('2'))],
  ['has something other than text', field(code('=') + page + code('+1'), run('<w:tab/>') + shown('2'))],
  ['is a page number', page],
  ['has no end', mark('begin') + code('=') + page],
])('keeps a field that %s', (_, content) => {
  expect(pageFieldEdits(`<w:ftr><w:p>${content}</w:p></w:ftr>`)).toEqual([]);
});
