import type { Protocol } from 'puppeteer-core';
import { openOutput } from '../engines/chromium/output.ts';
import type { Session } from '../engines/chromium/page/session.ts';
import { unblock } from '../engines/chromium/page/wait/virtual-time.ts';
import { countPages } from '../engines/pdf/page-count.ts';
import { ConversionError, megabytes } from '../shared/errors.ts';
import { integers, pagesText } from '../shared/options/page-selection.ts';
import type { ConversionLimits } from '../shared/tool.ts';
import type { Html2pdfOptions } from './options.ts';

const CHUNK = 1 << 20;

/**
 * Prints the page to a file and returns its page count.
 * @throws ConversionError `RESULT_TOO_LARGE`.
 */
export async function printToFile(
  session: Session,
  settings: Protocol.Page.PrintToPDFRequest,
  { path, limits }: { path: string; limits: ConversionLimits },
): Promise<number> {
  const { protocol } = session;
  const printing = protocol.send('Page.printToPDF', { ...settings, transferMode: 'ReturnAsStream' });
  // A page that had lazy images is printed in a later task.
  const { stream } = await unblock(session, printing);
  const file = await openOutput(path);
  try {
    for (let bytes = 0, eof = false; !eof; ) {
      const chunk = await protocol.send('IO.read', { handle: stream!, size: CHUNK });
      const data = Buffer.from(chunk.data, chunk.base64Encoded ? 'base64' : 'utf8');
      bytes += data.length;
      if (bytes > limits.resultBytes) throw tooLargeError(megabytes(limits.resultBytes));
      await file.write(data);
      eof = chunk.eof;
    }
  } finally {
    await file.close();
    await protocol.send('IO.close', { handle: stream! });
  }
  const pageCount = await countPages(path);
  if (pageCount === 0) throw new ConversionError('CONVERSION_FAILED', 'The page could not be printed.');
  if (pageCount > limits.pages) throw tooLargeError(`${limits.pages} pages`);
  return pageCount;
}

export function tooLargeError(bound: string): ConversionError {
  return new ConversionError('RESULT_TOO_LARGE', `The PDF exceeds the limit of ${bound}.`);
}

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
