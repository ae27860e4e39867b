import { ConversionError } from '../shared/errors.ts';
import type { WorkerRequest } from '../shared/worker/pool.ts';

/**
 * Runs engine work that sends an event now and then, the first when it starts; ends it when it is silent for too long.
 * Waiting for an engine does not count.
 * @throws ConversionError `TIMED_OUT`
 */
export async function withStallTimeout<Reply>(
  request: WorkerRequest,
  milliseconds: number,
  run: (patient: WorkerRequest) => Promise<Reply>,
): Promise<Reply> {
  const silent = new AbortController();
  const seconds = Math.round(milliseconds / 1000);
  const late = new ConversionError('TIMED_OUT', `A page of the source took longer than ${seconds} s.`);
  let timer: NodeJS.Timeout | undefined;
  const onEvent = (event: unknown) => {
    clearTimeout(timer);
    timer = setTimeout(() => silent.abort(late), milliseconds);
    request.onEvent?.(event);
  };
  try {
    return await run({ ...request, onEvent, signal: AbortSignal.any([request.signal, silent.signal]) });
  } finally {
    clearTimeout(timer);
  }
}
