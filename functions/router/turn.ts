import { setImmediate } from 'node:timers/promises';

/** When the next call of each caller may go on. */
const turns = new Map<string, Promise<void>>();

/**
 * Waits for a turn of the event loop in which no other call of the same caller has gone on. A call begins and ends with a few
 * milliseconds of work, and one caller may have many that do so at the same time.
 */
export function takeTurn(caller: string): Promise<void> {
  const turn = turns.get(caller) ?? Promise.resolve();
  const next = turn.then(async () => {
    await setImmediate();
    if (turns.get(caller) === next) turns.delete(caller);
  });
  turns.set(caller, next);
  return turn;
}
