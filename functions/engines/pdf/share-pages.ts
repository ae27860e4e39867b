import { ConversionError } from '../../shared/errors.ts';
import { withAnySignal } from '../../shared/timeout.ts';
import type { Output } from '../../shared/tool.ts';
import type { Drawn } from './pdfium/drawing.ts';

/**
 * Maximum number of pages per share: small enough to distribute the pages, large enough to make opening the document
 * worthwhile.
 */
const PAGES_PER_SHARE = 16;

/** A request to draw one share of the pages. */
interface ShareRequest {
  readonly signal: AbortSignal;
  /** Called for each page as soon as its file is complete. */
  readonly onDrawn: (drawn: Drawn) => void;
}

/**
 * Draws pages in `size` processes at a time and yields them in order, each as soon as it and all previous ones are
 * complete. Stops drawing when the caller stops iterating.
 */
export function drawPages(
  pages: readonly number[],
  size: number,
  run: (pages: readonly number[], share: ShareRequest) => Promise<unknown>,
): (signal: AbortSignal) => AsyncGenerator<Output> {
  const shares = splitPages(pages, size);

  return async function* (signal) {
    const stop = new AbortController();
    const finished = new Map(pages.map((page) => [page, Promise.withResolvers<Output>()]));
    const onDrawn = ({ page, path }: Drawn) => finished.get(page)?.resolve({ page, path });
    const waiting = [...shares];
    const draw = (share: readonly number[]) =>
      withAnySignal([signal, stop.signal], (either) => run(share, { signal: either, onDrawn }));
    const work = async () => {
      for (let share = waiting.shift(); share; share = waiting.shift()) await draw(share);
    };
    const workers = Array.from({ length: Math.min(size, shares.length) }, work);
    // Once all shares are drawn, a page without a file will never get one.
    const failed = Promise.all(workers).then(() => {
      throw new ConversionError('CONVERSION_FAILED', 'The conversion produced no output.');
    });
    failed.catch(() => {});
    try {
      for (const page of pages) yield await Promise.race([finished.get(page)!.promise, failed]);
    } finally {
      stop.abort();
      waiting.length = 0;
      await Promise.allSettled(workers);
    }
  };
}

/** Splits pages into shares of consecutive pages, small enough that the last ones finish at about the same time. */
export function splitPages(pages: readonly number[], size: number): number[][] {
  const share = Math.max(1, Math.min(PAGES_PER_SHARE, Math.ceil(pages.length / (size * 4))));
  const shares = Math.ceil(pages.length / share);
  return Array.from({ length: shares }, (_, index) => pages.slice(index * share, (index + 1) * share));
}
