import { availableParallelism } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { within } from '../../shared/timeout.ts';

/** Workers that may be starting at the same time. More would only delay each other, and all other work. */
const MAX_STARTING = availableParallelism();
/** Milliseconds after which another may start beside one that is not ready. */
const START_TIME = 2000;

interface Worker {
  readonly ready: Promise<void>;
}

let last: Promise<void> = Promise.resolve();
const starting = new Set<Promise<unknown>>();

/**
 * Calls a function that may start a worker, in turn with others, and leaves as much time for other work in between. Node copies its page
 * tables to start a process, which blocks the main thread for 10 ms, and for 60 ms on a busy machine.
 */
export function inTurn<Started extends Worker | undefined>(start: () => Started): Promise<Started> {
  let duration = 0;
  const started = last.then(async () => {
    while (starting.size >= MAX_STARTING) await Promise.race(starting);
    const began = performance.now();
    try {
      const worker = start();
      if (worker) note(worker);
      return worker;
    } finally {
      duration = performance.now() - began;
    }
  });
  const pause = () => setTimeout(duration);
  last = started.then(pause, pause);
  return started;
}

function note({ ready }: Worker): void {
  const hasStarted = within(
    START_TIME,
    ready.catch(() => {}),
  ).finally(() => starting.delete(hasStarted));
  starting.add(hasStarted);
}
