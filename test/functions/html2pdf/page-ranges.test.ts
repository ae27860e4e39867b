import { describe, expect, it } from 'vitest';
import { chromiumRanges, keptPages } from '../../../functions/html2pdf/page-ranges.ts';

const none = { pageRanges: undefined, firstPage: undefined, lastPage: undefined };

describe('the pages to keep', () => {
  it('are all of them by default, and for 0', () => {
    expect(keptPages(none)).toBeUndefined();
    expect(keptPages({ ...none, firstPage: 0, lastPage: 0 })).toBeUndefined();
  });

  it('are a list, or a range from the first to the last', () => {
    expect(keptPages({ ...none, firstPage: 3 })).toEqual([{ first: 3, last: -1 }]);
    expect(keptPages({ ...none, lastPage: 4 })).toEqual([{ first: 1, last: 4 }]);
    expect(keptPages({ ...none, pageRanges: [{ first: 2, last: 2 }] })).toEqual([{ first: 2, last: 2 }]);
  });

  it('are counted from the end if negative, and limited to the document', () => {
    const ranges = [
      { first: 1, last: 2 },
      { first: -2, last: -1 },
      { first: 9, last: 99 },
      { first: 50, last: 60 },
    ];

    expect(chromiumRanges(ranges, 10)).toBe('1-2,9-10,9-10');
  });

  it('must include at least one page', () => {
    expect(() => chromiumRanges([{ first: 11, last: -1 }], 10)).toThrow(
      expect.objectContaining({
        code: 'PAGE_RANGE',
        message: "The selected page ranges contain none of the document's 10 pages.",
      }),
    );
    expect(() => chromiumRanges([{ first: -20, last: -15 }], 10)).toThrow('contain none of');
  });
});
