import { ConversionError } from '../errors.ts';
import type { PageRange } from './parameters.ts';

interface Selection {
  readonly firstPage: number | undefined;
  readonly lastPage: number | undefined;
  readonly pages: readonly PageRange[] | undefined;
}

/**
 * Lists the chosen pages of a document, each once, in the order asked for; `undefined` where the caller chose none.
 * `listName` is what the list of pages is called on the wire.
 * @throws ConversionError `PAGE_RANGE` for pages the document does not have, `BAD_PARAMETER` for two kinds of choice.
 */
export function choosePages(
  selection: Selection,
  pageCount: number,
  listName = '-pages',
): number[] | undefined {
  const { firstPage, lastPage, pages } = selection;
  const byRange = firstPage !== undefined || lastPage !== undefined;
  if (pages && byRange) {
    throw new ConversionError('BAD_PARAMETER', `Parameter '${listName}' cannot be given with '-f' or '-l'.`);
  }
  if (pages) return [...new Set(pages.flatMap((range) => listRange(range, pageCount, listName)))];
  if (!byRange) return undefined;

  const first = firstPage || 1;
  const last = Math.min(lastPage || pageCount, pageCount);
  if (first > pageCount) {
    throw outside(`Parameter '-f' is ${first}, but the document has ${count(pageCount)}.`);
  }
  if (lastPage && first > lastPage) {
    throw outside(`Parameter '-f' (${first}) must not be above '-l' (${lastPage}).`);
  }
  return sequence(first, last);
}

/** Whole numbers from `first` to `last`. */
export function sequence(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

function listRange(range: PageRange, pageCount: number, listName: string): number[] {
  const [first, last] = [range.first, range.last].map((page) => (page < 0 ? pageCount + 1 + page : page)) as [
    number,
    number,
  ];
  if (first < 1 || first > pageCount) {
    const page = range.first < 0 ? `!${-range.first}` : range.first;
    throw outside(`Parameter '${listName}' asks for page ${page}, but the document has ${count(pageCount)}.`);
  }
  if (last < first) throw outside(`Parameter '${listName}' holds a range that ends before page ${first}.`);
  return sequence(first, Math.min(last, pageCount));
}

function count(pages: number): string {
  return pages === 1 ? '1 page' : `${pages} pages`;
}

function outside(message: string): ConversionError {
  return new ConversionError('PAGE_RANGE', message);
}
