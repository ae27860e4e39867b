import { setTimeout } from 'node:timers/promises';

/**
 * Pause after a start, as a multiple of its duration. Node copies its page tables to start a process, which blocks the main thread
 * for 10 ms, and for 60 ms on a busy machine.
 */
const PAUSE = 4;
/** Milliseconds after the last kill for which starts have pauses. */
const KILLED_TIME = 5000;

let last: Promise<void> = Promise.resolve();
let killedAt = Number.NEGATIVE_INFINITY;

/** Announces that a worker was killed. Many requests may end at the same time, and as many workers start again. */
export function noteKill(): void {
  killedAt = performance.now();
}

/** Calls a function that may start a process, in turn with others. After a kill, that leaves time for other work in between. */
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
  const pause = () => {
    const isAfterKill = performance.now() - killedAt < KILLED_TIME;
    return setTimeout(isAfterKill ? PAUSE * duration : 0);
  };
  last = started.then(pause, pause);
  return started;
}
