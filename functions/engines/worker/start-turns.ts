import { setTimeout } from 'node:timers/promises';

/**
 * Pause after a start, as a multiple of its duration. Node copies its page tables to start a process, which blocks the main thread
 * for 10 ms, and for 60 ms on a busy machine. A longer pause would delay ImageMagick, which starts for each request.
 */
const PAUSE = 1;

let last: Promise<void> = Promise.resolve();

/** Calls a function that may start a process, in turn with others, so that many starts do not block the main thread for long. */
export function inTurn<Started>(start: () => Started): Promise<Started> {
  let duration = 0;
  const started = last.then(() => {
    const began = performance.now();
    try {
      return start();
    } finally {
      duration = performance.now() - began;
    }
  });
  const pause = () => setTimeout(PAUSE * duration);
  last = started.then(pause, pause);
  return started;
}
