import { availableParallelism } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { within } from '../../shared/time.ts';

/** Maximum number of workers that start at the same time. More would only delay each other and all other work. */
const MAX_STARTING = availableParallelism();
/** Delay in milliseconds after which another worker may start although the last one is not ready yet. */
const START_TIME = 2000;

interface Worker {
  readonly ready: Promise<void>;
}

let last: Promise<void> = Promise.resolve();
const starting = new Set<Promise<unknown>>();

/**
 * Starts workers one at a time, with a pause as long as the last start took, because forking blocks the main thread
 * for 10–60 ms. `start` may also return no worker.
 */
export function startInTurn<Started extends Worker | undefined>(start: () => Started): Promise<Started> {
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
