import { expect, it } from 'vitest';
import { readStyles } from '../../../../../functions/engines/office/word/styles.ts';

const THEME = `<a:theme><a:minorFont><a:latin typeface="Calibri"/><a:ea typeface=""/>
  <a:font script="Jpan" typeface="游明朝"/><a:font script="Hans" typeface="等线"/></a:minorFont>
  <a:majorFont><a:latin typeface="Cambria"/><a:ea typeface="黑体"/><a:font script="Hans" typeface="宋体"/></a:majorFont>
</a:theme>`;
const STYLES = `<w:styles>
  <w:docDefaults>
    <w:rPrDefault><w:rPr><w:rFonts w:asciiTheme="minorHAnsi" w:eastAsiaTheme="minorEastAsia"/><w:sz w:val="21"/></w:rPr></w:rPrDefault>
    <w:pPrDefault><w:pPr><w:spacing w:after="160" w:line="259" w:lineRule="auto"/></w:pPr></w:pPrDefault>
  </w:docDefaults>
  <w:style w:type="paragraph" w:default="1" w:styleId="a"><w:pPr><w:spacing w:after="0"/></w:pPr></w:style>
  <w:style w:type="paragraph" w:styleId="h"><w:basedOn w:val="a"/>
    <w:pPr><w:spacing w:line="400" w:lineRule="exact"/><w:snapToGrid w:val="0"/></w:pPr>
    <w:rPr><w:rFonts w:asciiTheme="majorHAnsi" w:ascii="Arial" w:eastAsiaTheme="majorEastAsia"/><w:sz w:val="32"/></w:rPr></w:style>
  <w:style w:type="table" w:styleId="t"><w:tblStylePr w:type="firstRow"><w:rPr><w:sz w:val="99"/></w:rPr></w:tblStylePr></w:style>
  <w:style w:type="paragraph" w:styleId="loop"><w:basedOn w:val="loop"/></w:style>
</w:styles>`;

it('resolves a style, those that it is based on, and the defaults', () => {
  const styles = readStyles(STYLES, THEME);

  expect(styles.formatting('h')).toEqual({
    size: 16,
    latinFont: 'Cambria',
    asianFont: '黑体',
    line: 400,
    lineRule: 'exact',
    after: 0,
    snapsToGrid: false,
  });
});

it.each([undefined, 'missing'])('takes the default style for %j', (id) => {
  expect(readStyles(STYLES, THEME).formatting(id)).toEqual({
    size: 10.5,
    latinFont: 'Calibri',
    asianFont: '等线',
    line: 259,
    lineRule: 'auto',
    after: 0,
  });
});

it.each([
  ['ja-JP', '游明朝'],
  ['zh-CN', '等线'],
  ['', '等线'],
])('takes the font of a theme for the language "%s"', (language, asianFont) => {
  expect(readStyles(STYLES, THEME, language).formatting('a')).toMatchObject({ asianFont });
});

it('takes the style of a table before that of a paragraph', () => {
  const table =
    '<w:style w:type="table" w:styleId="grid"><w:pPr><w:spacing w:line="240" w:after="9"/></w:pPr></w:style>';
  const styles = readStyles(STYLES.replace('</w:styles>', `${table}</w:styles>`), THEME);

  expect(styles.formatting(undefined, 'grid')).toMatchObject({ line: 240, after: 0 });
});

it.each(['t', 'loop'])('takes only the defaults for the style "%s"', (id) => {
  expect(readStyles(STYLES, THEME).formatting(id)).toMatchObject({ size: 10.5, after: 160 });
});

it("has Word's size without any styles", () => {
  expect(readStyles('<w:styles/>', '').formatting(undefined)).toEqual({ size: 10 });
});
