import { describe, expect, it } from 'vitest';
import { chromiumRanges, pagesIn } from '../../../functions/html2pdf/print-to-file.ts';

const none = { pageRanges: undefined, firstPage: undefined, lastPage: undefined };

describe('the pages to keep', () => {
  it('are all of them by default, and for 0', () => {
    expect(chromiumRanges(none, 10)).toBeUndefined();
    expect(chromiumRanges({ ...none, firstPage: 0, lastPage: 0 }, 10)).toBeUndefined();
  });

  it('are a list, or a range from the first to the last', () => {
    expect(chromiumRanges({ ...none, firstPage: 3 }, 10)).toBe('3-10');
    expect(chromiumRanges({ ...none, lastPage: 4 }, 10)).toBe('1-4');
    expect(chromiumRanges({ ...none, pageRanges: [{ first: 2, last: 2 }] }, 10)).toBe('2-2');
  });

  it('are counted from the end if negative, and limited to the document', () => {
    const pageRanges = [
      { first: 1, last: 2 },
      { first: -2, last: -1 },
      { first: 9, last: 99 },
      { first: 50, last: 60 },
    ];

    expect(chromiumRanges({ ...none, pageRanges }, 10)).toBe('1-2,9-10,9-10');
  });

  it('are numbered in the order in which Chromium prints them', () => {
    expect(pagesIn('9-10,1-2,9-10')).toEqual([1, 2, 9, 10]);
  });

  it.each([
    ['--page-ranges', { ...none, pageRanges: [{ first: 11, last: -1 }] }],
    ['--page-ranges', { ...none, pageRanges: [{ first: -20, last: -15 }] }],
    ['-f', { ...none, firstPage: 11 }],
  ])('must include at least one page: %s', (parameter, options) => {
    expect(() => chromiumRanges(options, 10)).toThrow(
      expect.objectContaining({
        code: 'PAGE_RANGE',
        message: `Parameter '${parameter}' selects only pages that do not exist. The document has 10 pages.`,
        parameter,
      }),
    );
  });
});
