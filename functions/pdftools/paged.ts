import type { Output } from '../shared/tool.ts';
import type { Progress } from './request.ts';

/** Pages a process takes at a time, at most: few enough to spread, enough to make opening the document cheap. */
const SHARE = 16;

/** How one share is drawn: events are the pages that are finished. */
export interface Drawing {
  readonly signal: AbortSignal;
  readonly onEvent: (event: unknown) => void;
}

/**
 * Draws pages in `size` processes at a time and yields them in order, each as soon as it and all before it are there.
 * Whoever stops listening stops the drawing.
 */
export function drawPages(
  pages: readonly number[],
  size: number,
  run: (pages: readonly number[], drawing: Drawing) => Promise<unknown>,
): (signal: AbortSignal) => AsyncGenerator<Output> {
  const shares = splitPages(pages, size);

  return async function* (signal) {
    const stop = new AbortController();
    const finished = new Map(pages.map((page) => [page, Promise.withResolvers<Output>()]));
    const onEvent = (event: unknown) => {
      const { page, path } = event as Progress;
      if (page !== undefined && path !== undefined) finished.get(page)?.resolve({ page, path });
    };
    const waiting = [...shares];
    const work = async () => {
      for (let share = waiting.shift(); share; share = waiting.shift()) {
        await run(share, { signal: AbortSignal.any([signal, stop.signal]), onEvent });
      }
    };
    const workers = Array.from({ length: Math.min(size, shares.length) }, work);
    const failed = Promise.race(workers.map((worker) => worker.then(() => new Promise<never>(() => {}))));
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

/** Splits pages into shares of neighbours, small enough that the last ones end at about the same time. */
export function splitPages(pages: readonly number[], size: number): number[][] {
  const share = Math.max(1, Math.min(SHARE, Math.ceil(pages.length / (size * 4))));
  const shares = Math.ceil(pages.length / share);
  return Array.from({ length: shares }, (_, index) => pages.slice(index * share, (index + 1) * share));
}
