import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../../../functions/engines/office/markup.ts';
import { formulaEdits, slideEdits } from '../../../../functions/engines/office/slides.ts';

const edited = (slide: string) => applyEdits(slide, [...formulaEdits(slide), ...slideEdits(slide)]);
const textOf = (slide: string) =>
  edited(slide)
    .match(/(?<=<a:t>).*?(?=<\/a:t>)/g)
    ?.join('');

describe('a text box', () => {
  const box = (attributes: string, content: string) => `<a:bodyPr ${attributes}>${content}</a:bodyPr>`;

  it.each([
    ['', ''],
    ['<a:prstTxWarp prst="x"><a:avLst/></a:prstTxWarp>', 'anchor="t"'],
  ])('that does not wrap keeps its size', (before, more) => {
    const attributes = `wrap="none" ${more}`;

    expect(edited(box(attributes, `${before}<a:spAutoFit/>`))).toBe(box(attributes, before));
  });

  it.each([
    ['wraps', 'wrap="square"', '<a:spAutoFit/>'],
    ['is after one that does not', 'wrap="none"', `</a:bodyPr><a:bodyPr><a:spAutoFit/>`],
  ])('stays as it is if it %s', (_, attributes, content) => {
    expect(slideEdits(box(attributes, content))).toEqual([]);
  });
});

it('shows the picture of ink', () => {
  const ink = (needs: string) =>
    `<mc:AlternateContent><mc:Choice xmlns:p14="x" Requires="${needs}"><p:contentPart/></mc:Choice><mc:Fallback/></mc:AlternateContent>`;

  expect(edited(ink('p14'))).toBe(ink('aink'));
});

describe('a formula without a fallback', () => {
  const run = (text: string) => `<m:r><m:t>${text}</m:t></m:r>`;
  const power = `<m:sSup><m:e>${run('c')}</m:e><m:sup>${run('2')}</m:sup></m:sSup>`;
  const box = (formula: string, rest = '') =>
    '<p:spTree><mc:AlternateContent xmlns:mc="c"><mc:Choice xmlns:a14="d" Requires="a14"><p:sp><a:p>' +
    `<a:r><a:rPr sz="2000"/><a:t>Before </a:t></a:r><a14:m><m:oMath>${formula}</m:oMath></a14:m></a:p></p:sp></mc:Choice>${rest}` +
    '</mc:AlternateContent></p:spTree>';

  it('is text of its box', () => {
    const slide = edited(box(run('E&lt;m') + power));

    expect(slide).toMatch(/^<p:spTree><p:sp xmlns:mc="c" xmlns:a14="d"><a:p>.*<\/a:p><\/p:sp><\/p:spTree>$/);
    expect(slide).toContain('sz="2000" baseline="30000"');
    expect(slide).not.toContain('m:');
  });

  it.each([
    ['a power', power, 'c2'],
    ['a fraction', `<m:f><m:num>${run('a+b')}</m:num><m:den>${run('c')}</m:den></m:f>`, '(a+b)/c'],
    ['a root', `<m:rad><m:deg/><m:e>${run('ab')}</m:e></m:rad>`, '√(ab)'],
    ['an integral', `<m:nary><m:naryPr/><m:sub>${run('0')}</m:sub><m:e>${run('x')}</m:e></m:nary>`, '∫0x'],
    ['a sum', `<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:e>${run('x')}</m:e></m:nary>`, '∑x'],
    ['brackets', `<m:d><m:dPr><m:begChr m:val="["/></m:dPr><m:e>${run('x')}</m:e></m:d>`, '[x)'],
  ])('can have %s', (_, formula, text) => {
    expect(textOf(box(formula))).toBe(`Before ${text}`);
  });

  it('declares no namespace twice', () => {
    const slide = box(run('x'))
      .replace('<p:sp>', '<p:sp xmlns:a14="d">')
      .replace('<mc:Choice', '$& xmlns:mc="c"');

    expect(edited(slide)).toContain('<p:sp xmlns:mc="c" xmlns:a14="d"><a:p>');
  });

  it('keeps the fallback if there is one', () => {
    expect(formulaEdits(box(power, '<mc:Fallback/>'))).toEqual([]);
  });
});
