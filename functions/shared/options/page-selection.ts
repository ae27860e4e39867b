import { ConversionError } from '../errors.ts';
import type { PageRange } from './option.ts';

interface Selection {
  readonly firstPage: number | undefined;
  readonly lastPage: number | undefined;
  readonly pages: readonly PageRange[] | undefined;
}

/** Yields an error for each broken rule between `-f`, `-l` and the list of pages, whose option is `listName`. */
export function* checkPageSelection(
  { firstPage, lastPage, pages }: Selection,
  listName = '-pages',
): Generator<ConversionError> {
  if (pages && (firstPage !== undefined || lastPage !== undefined)) {
    yield new ConversionError(
      'BAD_PARAMETER',
      `Parameter '${listName}' cannot be combined with '-f' or '-l'.`,
      { parameter: listName },
    );
  }
  if (firstPage && lastPage && firstPage > lastPage) {
    yield new ConversionError(
      'PAGE_RANGE',
      `Parameter '-f' (${firstPage}) must not be greater than '-l' (${lastPage}).`,
      { parameter: '-f' },
    );
  }
}

/**
 * Returns the selected pages of a document, each once, in the requested order, or `undefined` if none were selected.
 * @throws ConversionError `PAGE_RANGE` if the document does not have one of them.
 */
export function choosePages(
  selection: Selection,
  pageCount: number,
  listName = '-pages',
): number[] | undefined {
  const { firstPage, lastPage, pages } = selection;
  if (pages) return pagesIn(pages, pageCount, listName);
  if (firstPage === undefined && lastPage === undefined) return undefined;

  const first = firstPage || 1;
  const last = Math.min(lastPage || pageCount, pageCount);
  if (first > pageCount) {
    throw pageRangeError('-f', `Parameter '-f' is ${first}, but the document has ${pagesText(pageCount)}.`);
  }
  return integers(first, last);
}

/** Whether selected pages are all pages of a document in their order. */
export function selectsAll(pages: readonly number[], pageCount: number): boolean {
  return pages.length === pageCount && pages.every((page, index) => page === index + 1);
}

/** Returns the integers from `first` to `last`. */
export function integers(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** Returns the pages of ranges, each once. Its time grows with the ranges and the pages, not with their product. */
function pagesIn(ranges: readonly PageRange[], pageCount: number, listName: string): number[] {
  const chosen = new Set<number>();
  /** The page to go on with after each page, past those that an earlier range has added together with it. */
  const next = integers(1, pageCount + 1);
  for (const range of ranges) {
    const { first, last } = boundsOf(range, pageCount, listName);
    for (let page = first; page <= last; ) {
      chosen.add(page);
      const after = next[page]!;
      next[page] = Math.max(after, last + 1);
      page = after;
    }
  }
  return [...chosen];
}

/** Returns the same pages in ascending order, as ranges that do not overlap. @throws ConversionError `PAGE_RANGE` */
export function spansOf(ranges: readonly PageRange[], pageCount: number, listName: string): PageRange[] {
  const bounds = ranges.map((range) => boundsOf(range, pageCount, listName));
  const spans: PageRange[] = [];
  for (const { first, last } of bounds.sort((a, b) => a.first - b.first)) {
    const before = spans.at(-1);
    if (!before || before.last < first) spans.push({ first, last });
    else spans.push({ first: spans.pop()!.first, last: Math.max(before.last, last) });
  }
  return spans;
}

function boundsOf(range: PageRange, pageCount: number, listName: string): PageRange {
  const [first, last] = [range.first, range.last].map((page) => (page < 0 ? pageCount + 1 + page : page)) as [
    number,
    number,
  ];
  if (first < 1 || first > pageCount) {
    const page = range.first < 0 ? `!${-range.first}` : range.first;
    throw pageRangeError(
      listName,
      `Parameter '${listName}' contains page ${page}, but the document has ${pagesText(pageCount)}.`,
    );
  }
  if (last < first)
    throw pageRangeError(
      listName,
      `Parameter '${listName}' contains a range that ends before page ${first}.`,
    );
  return { first, last: Math.min(last, pageCount) };
}

/** Formats a number of pages. */
export function pagesText(pages: number): string {
  return pages === 1 ? '1 page' : `${pages} pages`;
}

function pageRangeError(parameter: string, message: string): ConversionError {
  return new ConversionError('PAGE_RANGE', message, { parameter });
}
