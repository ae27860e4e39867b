import { ConversionError } from '../../shared/errors.ts';
import type { WorkerRequest } from '../worker/pool.ts';

export interface StallTimes {
  /** Milliseconds without any event. */
  readonly stall: number;
  /** Milliseconds between two events that report a page, or between the start and the first. */
  readonly page: number;
}

/**
 * Runs engine work and ends it when it makes no progress. The engine sends an event when it starts, when it finishes a page,
 * and when it has done part of one. Waiting for a free engine does not count.
 * @throws ConversionError `TIMED_OUT`
 */
export async function withStallTimeout<Reply>(
  request: WorkerRequest,
  { stall, page }: StallTimes,
  run: (bounded: WorkerRequest) => Promise<Reply>,
): Promise<Reply> {
  const late = new AbortController();
  const timers = {
    stall: undefined as NodeJS.Timeout | undefined,
    page: undefined as NodeJS.Timeout | undefined,
  };
  const end = (milliseconds: number) => () => {
    const seconds = Math.round(milliseconds / 1000);
    late.abort(new ConversionError('TIMED_OUT', `A page of the source took longer than ${seconds} s.`));
  };
  const onEvent = (event: unknown) => {
    clearTimeout(timers.stall);
    timers.stall = setTimeout(end(stall), stall);
    // An event without members only reports progress.
    if (Object.keys(event as object).length > 0) {
      clearTimeout(timers.page);
      timers.page = setTimeout(end(page), page);
    }
    request.onEvent?.(event);
  };
  try {
    return await run({ ...request, onEvent, signal: AbortSignal.any([request.signal, late.signal]) });
  } finally {
    clearTimeout(timers.stall);
    clearTimeout(timers.page);
  }
}
