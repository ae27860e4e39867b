import { expect, it } from 'vitest';
import { contentsEdits } from '../../../../../functions/engines/office/word/contents.ts';
import { applyEdits } from '../../../../../functions/engines/office/word/markup.ts';

const HEADING = '<w:r><w:t>Contents</w:t></w:r>';
const START =
  '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> TOC \\o "1-3" </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>';
const END = '<w:p><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>';
const STYLE = '<w:pPr><w:pStyle w:val="toc1"/></w:pPr>';
const entry = (text: string, start = '', style = STYLE) =>
  `<w:p>${style}${start}<w:r><w:t>${text}</w:t></w:r></w:p>`;
const control = (content: string, properties = '<w:docPartObj/>') =>
  `<w:body><w:sdt><w:sdtPr>${properties}</w:sdtPr><w:sdtContent>${content}</w:sdtContent></w:sdt><w:p/></w:body>`;
const moved = (document: string) => applyEdits(document, contentsEdits(document));

it.each([
  ['with properties', STYLE],
  ['without properties', ''],
])('moves the start of a table of contents behind its heading to an entry %s', (_, style) => {
  const rest = entry('Two') + END;

  expect(moved(control(`<w:p>${HEADING}${START}</w:p>${entry('One', '', style)}${rest}`))).toBe(
    control(`<w:p>${HEADING}</w:p>${entry('One', START, style)}${rest}`),
  );
});

it('skips paragraphs without a place for the start', () => {
  const [heading, rest] = [`<w:p>${HEADING}</w:p><w:p/>`, END];

  expect(moved(control(`<w:p>${HEADING}${START}</w:p><w:p/>${entry('One')}${rest}`))).toBe(
    control(`${heading}${entry('One', START)}${rest}`),
  );
});

it.each([
  ['a heading before the field', control(`<w:p>${HEADING}</w:p>${entry('One', START)}${END}`)],
  [
    'an entry in the paragraph of the heading',
    control(`<w:p>${HEADING}${START}<w:r><w:t>One</w:t></w:r></w:p>${END}`),
  ],
  [
    'a field without entries',
    control(`<w:p>${HEADING}${START}<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p><w:p>${HEADING}</w:p>`),
  ],
  ['another field', control(`<w:p>${HEADING}${START.replace('TOC', 'PAGE')}</w:p>${entry('One')}${END}`)],
  ['another content control', control(`<w:p>${HEADING}${START}</w:p>${entry('One')}${END}`, '')],
  ['no entry', control(`<w:p>${HEADING}${START}</w:p>`)],
])('changes nothing else: %s', (_, document) => {
  expect(contentsEdits(document)).toEqual([]);
});
