import { ConversionError } from '../shared/errors.ts';
import type { PageRange } from '../shared/options/option.ts';
import type { Html2pdfOptions } from './options.ts';

/** Returns the pages to keep, or `undefined` for all pages. */
export function keptPages({
  pageRanges,
  firstPage,
  lastPage,
}: Pick<Html2pdfOptions, 'pageRanges' | 'firstPage' | 'lastPage'>): readonly PageRange[] | undefined {
  if (pageRanges) return pageRanges;
  if (!firstPage && !lastPage) return undefined;
  return [{ first: firstPage || 1, last: lastPage || -1 }];
}

/**
 * Formats page ranges for Chromium, in ascending order and without pages past the end.
 * @throws ConversionError `PAGE_RANGE` if no page is left.
 */
export function chromiumRanges(ranges: readonly PageRange[], pageCount: number): string {
  const fromEnd = (page: number) => (page < 0 ? pageCount + 1 + page : page);
  const whole = ranges.map(({ first, last }) => ({
    first: Math.max(1, fromEnd(first)),
    last: Math.min(pageCount, fromEnd(last)),
  }));
  const inside = whole.filter(({ first, last }) => first <= last);
  if (inside.length === 0) {
    throw new ConversionError(
      'PAGE_RANGE',
      `The selected page ranges contain none of the document's ${pageCount} pages.`,
    );
  }
  return inside.map(({ first, last }) => `${first}-${last}`).join(',');
}

/** Lists the pages of ranges that are formatted for Chromium. */
export function pagesIn(ranges: string): number[] {
  const pages = ranges.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
  return [...new Set(pages)].sort((a, b) => a - b);
}
