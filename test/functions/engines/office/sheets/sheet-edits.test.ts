import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../../../../functions/engines/office/markup.ts';
import {
  savedValueEdits,
  scrollEdits,
  slicerEdits,
} from '../../../../../functions/engines/office/sheets/sheet-edits.ts';

describe('a formula with a saved value', () => {
  const cell = (formula: string) => `<c r="A1" t="str"><f>${formula}</f><v>x</v></c>`;
  const plain = '<c r="A1" t="str"><v>x</v></c>';
  const edited = (sheet: string) => applyEdits(sheet, savedValueEdits(sheet));

  it.each([
    '_xlfn.TEXTBEFORE(A1,&quot;-&quot;)',
    'StatusOf(A1)',
    '_xll.BDP(A1)',
    '[1]!PRICE(A1)',
    "'C:\\my[addin.xla]'!PRICE(A1)",
    'CUBEVALUE(A1)',
    'SUM(1)&amp;IF(A1,_xlfn.LET(_xlpm.n,1,_xlpm.n))',
  ])('is replaced by the value if LibreOffice may not know a function: %s', (formula) => {
    expect(edited(cell(formula))).toBe(plain);
  });

  it.each([
    'SUM(A1:A2)',
    'Sheet1!A1+1',
    'CONCATENATE(A1,&quot;see (this) and f(x)&quot;)',
    "'my sheet (1)'!A1",
    '_xlfn.CONCAT(TODAY())',
  ])('stays otherwise: %s', (formula) => {
    expect(savedValueEdits(cell(formula))).toEqual([]);
  });

  it.each([
    ['<c r="A1">', ''],
    ['<c r="A1" t="n">', '0'],
  ])('stays if the program that wrote it may have computed nothing: %s', (start, value) => {
    expect(savedValueEdits(`${start}<f>_xlfn.CONCAT(A1)</f><v>${value}</v></c>`)).toEqual([]);
  });

  it.each([
    ['t="e"', '#SPILL!', 't="str"'],
    ['t="e"', '#N/A', 't="e"'],
    ['t="str"', '', 't="str"'],
    ['t="b"', '0', 't="b"'],
  ])('with the type %s keeps %s', (type, value, expected) => {
    expect(edited(`<c ${type}><f>_xlfn.FILTER(A1)</f><v>${value}</v></c>`)).toBe(
      `<c ${expected}><v>${value}</v></c>`,
    );
  });

  it('stays without a value', () => {
    expect(savedValueEdits('<c r="A1"><f>StatusOf(A1)</f></c>')).toEqual([]);
  });

  it('takes the formulas along that share it', () => {
    const share = (attributes: string, text: string) =>
      `<c t="str"><f t="shared" ${attributes}>${text}</f><v>x</v></c>`.replace('></f>', '/>');
    const sheet = share('ref="A1:A2" si="0"', '_xlfn.TAKE(B1)') + share('si="0"', '') + share('si="1"', '');

    expect(edited(sheet)).toBe(`<c t="str"><v>x</v></c>`.repeat(2) + share('si="1"', ''));
  });
});

it('begins a sheet with its first cell', () => {
  const sheet = (attribute: string) =>
    `<sheetViews><sheetView workbookViewId="0"${attribute}/></sheetViews><sheetData> topLeftCell="B2"</sheetData>`;
  const scrolled = sheet(' topLeftCell="F60"');

  expect(applyEdits(scrolled, scrollEdits(scrolled))).toBe(sheet(''));
});

it('removes only the notes that stand for slicers', () => {
  const shape = (uri: string) =>
    `<mc:AlternateContent><mc:Choice><a:graphicData uri="${uri}"/></mc:Choice><mc:Fallback/></mc:AlternateContent>`;
  const drawing = `${shape('x/chartex')}${shape('x/2010/slicer')}${shape('x/2012/timeslicer')}`;

  expect(applyEdits(drawing, slicerEdits(drawing))).toBe(shape('x/chartex'));
});
