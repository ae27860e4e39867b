import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../../../../functions/engines/office/markup.ts';
import {
  fieldEdits,
  fieldRunEdits,
  labelEdits,
} from '../../../../../functions/engines/office/word/fields.ts';

const run = (content: string) => `<w:r>${content}</w:r>`;
const text = (content: string) => run(`<w:t>${content}</w:t>`);
const mark = (type: string) => `<w:fldChar w:fldCharType="${type}"/>`;
const instruction = (content: string) => `<w:instrText>${content}</w:instrText>`;
const field = (code: string, result: string) =>
  run(mark('begin')) + run(instruction(code)) + run(mark('separate')) + result + run(mark('end'));
/** Returns what remains of a field: its result between empty runs. */
const plain = (result: string) => `<w:r></w:r><w:r></w:r><w:r></w:r>${result}<w:r></w:r>`;
const linked = (bookmark: string, result: string) =>
  `<w:r></w:r><w:r></w:r><w:r></w:r><w:hyperlink w:anchor="${bookmark}">${result}</w:hyperlink><w:r></w:r>`;

function replaced(paragraphs: string): string {
  const part = `<w:body>${paragraphs}</w:body>`;
  return applyEdits(part, fieldEdits(part)).slice('<w:body>'.length, -'</w:body>'.length);
}

describe('a field', () => {
  it.each([
    ['REF x', plain(text('8'))],
    ['seq Figure \\* ARABIC', plain(text('8'))],
    [' REF _x1 \\h ', linked('_x1', text('8'))],
    ['PAGEREF "x" \\p \\h \\* MERGEFORMAT', linked('x', text('8'))],
    ['NOTEREF x \\h', linked('x', text('8'))],
  ])('is replaced with its result: %s', (code, expected) => {
    expect(replaced(`<w:p>${text('a')}${field(code, text('8'))}</w:p>`)).toBe(
      `<w:p>${text('a')}${expected}</w:p>`,
    );
  });

  it.each([
    'PAGE',
    ' numpages \\* Arabic',
    'SECTIONPAGES',
    'DATE \\@ "d.M."',
    'HYPERLINK "https://x/"',
    'FORMTEXT',
    'EQ \\f(1;2)',
    'INCLUDEPICTURE x',
    'PAGE\\* MERGEFORMAT',
    'HYPERLINK"https://x/"',
    'SET x "8"',
  ])('remains if Word computes it in print, or if it does something: %s', (code) => {
    const paragraph = `<w:p>${field(code, text('8'))}</w:p>`;

    expect(replaced(paragraph)).toBe(paragraph);
  });

  it('has an instruction in several runs', () => {
    const code = run(instruction('REF')) + run(instruction(' x'));

    expect(
      replaced(
        `<w:p>${run(mark('begin'))}${code}${run(mark('separate'))}${text('8')}${run(mark('end'))}</w:p>`,
      ),
    ).toBe(`<w:p>${'<w:r></w:r>'.repeat(4)}${text('8')}<w:r></w:r></w:p>`);
  });

  it('may have been deleted', () => {
    const deleted = field('REF x', text('8')).replaceAll('instrText', 'delInstrText');

    expect(replaced(`<w:p>${deleted}</w:p>`)).toBe(`<w:p>${plain(text('8'))}</w:p>`);
    const link = field('HYPERLINK x', text('8')).replaceAll('instrText', 'delInstrText');
    expect(replaced(`<w:p>${link}</w:p>`)).toBe(`<w:p>${link}</w:p>`);
  });

  it('is no link if it ends inside another element', () => {
    const [start, end] = field('REF x \\h', '|').split('|');

    expect(replaced(`<w:p>${start}<w:ins>${text('8')}${end}</w:ins></w:p>`)).toBe(
      `<w:p>${'<w:r></w:r>'.repeat(3)}<w:ins>${text('8')}<w:r></w:r></w:ins></w:p>`,
    );
  });

  it('may be in one run', () => {
    const content = `${mark('begin')}${instruction('REF x \\h')}${mark('separate')}<w:t>8</w:t>${mark('end')}`;

    expect(replaced(`<w:p>${run(content)}</w:p>`)).toBe(`<w:p>${text('8')}</w:p>`);
  });

  it('may have data', () => {
    const begin = '<w:fldChar w:fldCharType="begin"><w:fldData>AA==</w:fldData></w:fldChar>';

    expect(replaced(`<w:p>${field('REF x', text('8')).replace(mark('begin'), begin)}</w:p>`)).toBe(
      `<w:p>${plain(text('8'))}</w:p>`,
    );
  });

  it('may extend over paragraphs, and is no link then', () => {
    const [start, end] = field('REF x \\h', '|').split('|');

    expect(replaced(`<w:p>${start}${text('1')}</w:p><w:p>${text('2')}${end}</w:p>`)).toBe(
      `<w:p>${'<w:r></w:r>'.repeat(3)}${text('1')}</w:p><w:p>${text('2')}<w:r></w:r></w:p>`,
    );
  });

  it('remains without a result, or if Word computes it when it opens the document or from another field', () => {
    const paragraphs = [
      `<w:p>${field('REF x', text('8')).replace('"begin"', '"begin" w:dirty="true"')}</w:p>`,
      `<w:p><w:fldSimple w:instr="REF x" w:dirty="1">${text('8')}</w:fldSimple></w:p>`,
      `<w:p>${run(mark('begin'))}${run(instruction('REF x'))}${run(mark('end'))}</w:p>`,
      `<w:p>${run(mark('begin'))}${run(instruction('IF '))}${field('PAGE', text('1'))}${run(instruction(' = 1'))}${run(mark('separate'))}${text('8')}${run(mark('end'))}</w:p>`,
    ];

    expect(paragraphs.map(replaced)).toEqual(paragraphs);
  });

  it('is no link inside one, which would crash LibreOffice', () => {
    const inner = field('PAGEREF x \\h', text('8'));
    const [start, end] = field('HYPERLINK \\l "x"', '|').split('|');
    const element = (content: string) => `<w:p><w:hyperlink w:anchor="x">${content}</w:hyperlink></w:p>`;

    expect(replaced(`<w:p>${start}${inner}${end}</w:p>`)).toBe(
      `<w:p>${start}${plain(text('8'))}${end}</w:p>`,
    );
    expect(replaced(element(inner))).toBe(element(plain(text('8'))));
    const simple = `<w:fldSimple w:instr="REF x \\h">${text('8')}</w:fldSimple >`;
    expect(replaced(`<w:p>${start}${simple}${end}</w:p>`)).toBe(`<w:p>${start}${text('8')}${end}</w:p>`);
  });
});

it('replaces a table of contents with its entries, which do not look like links and have page numbers', () => {
  const entry = (style: string, hidden: string) =>
    `<w:hyperlink w:anchor="x"><w:r><w:rPr>${style}</w:rPr><w:t>One</w:t></w:r>${run(`<w:rPr>${hidden}</w:rPr><w:tab/>`)}</w:hyperlink>`;
  const link = entry('<w:rStyle w:val="a4"/>', '<w:webHidden></w:webHidden>');
  const [start, end] = field('TOC \\o "1-3"', '|').split('|');

  expect(replaced(`<w:p>${start}${link}</w:p><w:p>${end}${link}</w:p>`)).toBe(
    `<w:p>${'<w:r></w:r>'.repeat(3)}${entry('', '')}</w:p><w:p><w:r></w:r>${link}</w:p>`,
  );
});

it.each([
  ['REF x \\h', `<w:hyperlink w:anchor="x">${text('8')}</w:hyperlink>`],
  ['SEQ Figure', text('8')],
  ['PAGE', `<w:fldSimple w:instr="PAGE">${text('8')}</w:fldSimple>`],
])('replaces a simple field: %s', (code, expected) => {
  expect(replaced(`<w:p><w:fldSimple w:instr="${code}">${text('8')}</w:fldSimple></w:p>`)).toBe(
    `<w:p>${expected}</w:p>`,
  );
});

it('keeps an empty simple field', () => {
  expect(fieldEdits('<w:p><w:fldSimple w:instr="REF x"/></w:p>')).toEqual([]);
});

const divided = (part: string) => applyEdits(part, fieldRunEdits(part));
const begin = '<w:fldChar w:fldCharType="begin"/>';
const properties = '<w:rPr><w:color w:val="888888"/></w:rPr>';
const runText = (content: string) => `<w:t>${content}</w:t>`;

it('gives each mark of a field a run with the same properties', () => {
  const part = `<w:p><w:r>${properties}${runText('a')}${begin}${runText('b')}${runText('c')}</w:r></w:p>`;

  expect(divided(part)).toBe(
    `<w:p><w:r>${properties}${runText('a')}</w:r><w:r>${properties}${begin}</w:r><w:r>${properties}${runText('b')}${runText('c')}</w:r></w:p>`,
  );
});

it.each([
  ['has only a mark', `<w:p><w:r>${properties}${begin}</w:r></w:p>`],
  ['has only text', `<w:p><w:r>${runText('a')}${runText('b')}</w:r><w:r>${begin}</w:r></w:p>`],
])('keeps a run that %s', (_, part) => {
  expect(divided(part)).toBe(part);
});

it('divides the runs of a text box apart from the run around it', () => {
  const inner = (content: string) => `<w:p><w:r><w:pict><w:p>${content}</w:p></w:pict></w:r></w:p>`;

  expect(divided(inner(`<w:r>${begin}${runText('a')}</w:r>`))).toBe(
    inner(`<w:r>${begin}</w:r><w:r>${runText('a')}</w:r>`),
  );
});

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
