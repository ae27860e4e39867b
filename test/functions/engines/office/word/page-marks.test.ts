import { expect, it } from 'vitest';
import { applyEdits } from '../../../../../functions/engines/office/markup.ts';
import {
  countPages,
  pageMarkEdits,
  readPageCount,
} from '../../../../../functions/engines/office/word/page-marks.ts';

const MARK = '<w:lastRenderedPageBreak/>';
const BOLD = '<w:rPr><w:b/></w:rPr>';
const edited = (part: string) => applyEdits(part, pageMarkEdits(part));
const bookmark = (number: number) =>
  `<w:bookmarkStart w:id="200000000${number}" w:name="docmill-page-${number}"/><w:bookmarkEnd w:id="200000000${number}"/>`;

it('divides runs where Word began pages', () => {
  expect(
    edited(
      `<w:body><w:p><w:r>${BOLD}<w:t>a</w:t>${MARK}<w:t>b</w:t></w:r></w:p><w:p><w:r>${MARK}<w:t>c</w:t></w:r></w:p></w:body>`,
    ),
  ).toBe(
    `<w:body><w:p><w:r>${BOLD}<w:t>a</w:t></w:r>${bookmark(1)}<w:r>${BOLD}<w:t>b</w:t></w:r></w:p>` +
      `<w:p><w:r></w:r>${bookmark(2)}<w:r><w:t>c</w:t></w:r></w:p></w:body>`,
  );
});

it.each([
  ['right after a page break', `<w:p><w:r><w:br w:type="page"/></w:r><w:r>${MARK}<w:t>a</w:t></w:r></w:p>`],
  ['in a text box', `<w:p><w:r><w:txbxContent><w:p><w:r>${MARK}</w:r></w:p></w:txbxContent></w:r></w:p>`],
  ['in deleted text', `<w:p><w:del><w:r>${MARK}</w:r></w:del></w:p>`],
  [
    'in the base of a ruby',
    `<w:p><w:r><w:ruby><w:rubyBase><w:r>${MARK}</w:r></w:rubyBase></w:ruby></w:r></w:p>`,
  ],
  ['with a closing tag', '<w:p><w:r><w:lastRenderedPageBreak></w:lastRenderedPageBreak></w:r></w:p>'],
])('leaves a mark %s', (_, part) => {
  expect(edited(part)).toBe(part);
});

it('keeps the properties of a run that contains others', () => {
  const box =
    '<w:pict><w:txbxContent><w:p><w:r><w:rPr><w:i/></w:rPr><w:t>a</w:t></w:r></w:p></w:txbxContent></w:pict>';

  expect(edited(`<w:p><w:r>${BOLD}${box}${MARK}<w:t>b</w:t></w:r></w:p>`)).toBe(
    `<w:p><w:r>${BOLD}${box}</w:r>${bookmark(1)}<w:r>${BOLD}<w:t>b</w:t></w:r></w:p>`,
  );
});

it('marks a page that begins after the text of a line break', () => {
  const part = `<w:p><w:r><w:br w:type="page"/><w:t>a</w:t>${MARK}<w:t>b</w:t></w:r></w:p>`;

  expect(edited(part)).toContain(`<w:t>a</w:t></w:r>${bookmark(1)}`);
});

const properties = (pages: string, application = 'Microsoft Office Word') =>
  `<Properties><Pages>${pages}</Pages><Application>${application}</Application></Properties>`;

it.each([
  ['of Word', properties('12'), 12],
  ['of Word for Mac', properties('1', 'Microsoft Macintosh Word'), 1],
  [
    'without a number',
    '<Properties><Application>Microsoft Office Word</Application></Properties>',
    undefined,
  ],
  ['without pages', properties('0'), undefined],
  ['of another program', properties('12', 'LibreOffice/25.2'), undefined],
  ['with no valid number', properties('many'), undefined],
  ['that are missing', '', undefined],
])('reads how many pages there were in the properties %s', (_, part, pages) => {
  expect(readPageCount(part)).toBe(pages);
});

it.each([
  [1, 0, 1],
  [1, 1, 0],
  [1, 1001, undefined],
  [2, 1, 2],
  [2, 20, 2],
  [2, 21, undefined],
])('with %d recorded pages and %d marks, there were %s', (recorded, marks, pages) => {
  expect(countPages(recorded, marks)).toBe(pages);
});
