import { expect, it } from 'vitest';
import { applyEdits } from '../../../../../functions/engines/office/markup.ts';
import { fieldRunEdits } from '../../../../../functions/engines/office/word/fields.ts';

const divided = (part: string) => applyEdits(part, fieldRunEdits(part));
const begin = '<w:fldChar w:fldCharType="begin"/>';
const properties = '<w:rPr><w:color w:val="888888"/></w:rPr>';
const text = (content: string) => `<w:t>${content}</w:t>`;

it('gives each mark of a field a run with the same properties', () => {
  const part = `<w:p><w:r>${properties}${text('a')}${begin}${text('b')}${text('c')}</w:r></w:p>`;

  expect(divided(part)).toBe(
    `<w:p><w:r>${properties}${text('a')}</w:r><w:r>${properties}${begin}</w:r><w:r>${properties}${text('b')}${text('c')}</w:r></w:p>`,
  );
});

it.each([
  ['has only a mark', `<w:p><w:r>${properties}${begin}</w:r></w:p>`],
  ['has only text', `<w:p><w:r>${text('a')}${text('b')}</w:r><w:r>${begin}</w:r></w:p>`],
])('keeps a run that %s', (_, part) => {
  expect(divided(part)).toBe(part);
});

it('divides the runs of a text box apart from the run around it', () => {
  const inner = (content: string) => `<w:p><w:r><w:pict><w:p>${content}</w:p></w:pict></w:r></w:p>`;

  expect(divided(inner(`<w:r>${begin}${text('a')}</w:r>`))).toBe(
    inner(`<w:r>${begin}</w:r><w:r>${text('a')}</w:r>`),
  );
});
