import { ConversionError } from '../shared/errors.ts';
import { integers, pagesText } from '../shared/options/page-selection.ts';
import type { Html2pdfOptions } from './options.ts';

/**
 * Returns the selected pages that exist, in the syntax of Chromium's print settings, or `undefined` for all pages.
 * Chromium prints them in ascending order, each once, regardless of their order here.
 * @throws ConversionError `PAGE_RANGE` if none of the selected pages exists.
 */
export function chromiumRanges(
  { pageRanges, firstPage, lastPage }: Pick<Html2pdfOptions, 'pageRanges' | 'firstPage' | 'lastPage'>,
  pageCount: number,
): string | undefined {
  if (!pageRanges && !firstPage && !lastPage) return undefined;
  const fromStart = (page: number) => (page < 0 ? pageCount + 1 + page : page);
  const ranges = pageRanges ?? [{ first: firstPage || 1, last: lastPage || -1 }];
  const existing = ranges
    .map((range) => ({
      first: Math.max(1, fromStart(range.first)),
      last: Math.min(pageCount, fromStart(range.last)),
    }))
    .filter(({ first, last }) => first <= last);
  if (existing.length === 0) {
    const parameter = pageRanges ? '--page-ranges' : '-f';
    const message = `Parameter '${parameter}' selects only pages that do not exist. The document has ${pagesText(pageCount)}.`;
    throw new ConversionError('PAGE_RANGE', message, { parameter });
  }
  return existing.map(({ first, last }) => `${first}-${last}`).join(',');
}

/** Lists the pages that Chromium prints for ranges such as `1-2,9-10`. */
export function pagesIn(ranges: string): number[] {
  const pages = ranges.split(',').flatMap((range) => {
    const [first, last] = range.split('-').map(Number) as [number, number];
    return integers(first, last);
  });
  return [...new Set(pages)].sort((a, b) => a - b);
}
