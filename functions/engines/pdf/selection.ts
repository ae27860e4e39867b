import { ConversionError } from '../../shared/errors.ts';
import type { Format } from '../../shared/formats.ts';
import { choosePages, integers } from '../../shared/options/page-selection.ts';
import type { PdfOptions } from './options.ts';

interface PageSelection {
  readonly options: PdfOptions;
  readonly format: Format;
  readonly delivery: 'one' | 'paged';
}

/**
 * Returns the pages to convert. Without a selection, this is the first page for a single image, and all pages
 * otherwise.
 * @throws ConversionError `PAGE_RANGE` if the document does not have them.
 */
export function selectPages({ options, format, delivery }: PageSelection, pageCount: number): number[] {
  const { odd, even } = options;
  const chosen = choosePages(options, pageCount);
  if (!chosen && !odd && !even && delivery === 'one' && isImage(format)) return [1];
  const pages = chosen ?? integers(1, pageCount);
  const selected = odd || even ? pages.filter((page) => page % 2 === (odd ? 1 : 0)) : pages;
  if (selected.length > 0) return selected;
  throw new ConversionError(
    'PAGE_RANGE',
    `Parameter '${odd ? '-o' : '-e'}' selects no page of the document.`,
    { parameter: odd ? '-o' : '-e' },
  );
}

/** Returns the range of the selected pages before the document's length, at most `max`, is known. */
export function rangeOf(
  { options, format, delivery }: PageSelection,
  max: number,
): { readonly from: number; readonly to: number } {
  const { firstPage, lastPage, pages, odd, even } = options;
  if (firstPage !== undefined || lastPage !== undefined)
    return { from: firstPage || 1, to: Math.min(lastPage || max, max) };
  const all = pages || odd || even || delivery === 'paged' || !isImage(format);
  return { from: 1, to: all ? max : 1 };
}

function isImage(format: Format): boolean {
  return format !== 'pdf' && format !== 'txt' && format !== 'json';
}
