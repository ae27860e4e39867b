import { setTimeout } from 'node:timers/promises';

let last: Promise<void> = Promise.resolve();

/**
 * Calls a function that may start a process, in turn with others, and leaves as much time for other work in between. Node copies its page
 * tables to start a process, which blocks the main thread for 10 ms, and for 60 ms on a busy machine.
 */
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
  const pause = () => setTimeout(duration);
  last = started.then(pause, pause);
  return started;
}
