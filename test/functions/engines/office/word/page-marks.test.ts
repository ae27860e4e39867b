import { expect, it } from 'vitest';
import { applyEdits } from '../../../../../functions/engines/office/word/markup.ts';
import { pageMarkEdits, readPageCount } from '../../../../../functions/engines/office/word/page-marks.ts';

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
])('leaves a mark %s', (_, part) => {
  expect(edited(part)).toBe(part);
});

it('marks a page that begins after the text of a line break', () => {
  const part = `<w:p><w:r><w:br w:type="page"/><w:t>a</w:t>${MARK}<w:t>b</w:t></w:r></w:p>`;

  expect(edited(part)).toContain(`<w:t>a</w:t></w:r>${bookmark(1)}`);
});

const properties = (pages: string, application = 'Microsoft Office Word') =>
  `<Properties><Pages>${pages}</Pages><Application>${application}</Application></Properties>`;

it.each([
  ['of several pages', properties('12'), 3, 12],
  ['of one page', properties('1'), 0, 1],
  ['with one page and marks', properties('1'), 3, undefined],
  [
    'without a number',
    '<Properties><Application>Microsoft Word for Mac</Application></Properties>',
    3,
    undefined,
  ],
  ['without pages', properties('0'), 0, undefined],
  ['of another program', properties('12', 'LibreOffice/25.2'), 3, undefined],
  ['with no valid number', properties('many'), 3, undefined],
])('reads how many pages Word recorded: %s', (_, part, marks, pages) => {
  expect(readPageCount(part, marks)).toBe(pages);
});
