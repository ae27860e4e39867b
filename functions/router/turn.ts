import { setImmediate } from 'node:timers/promises';

/** Milliseconds in a turn of the event loop after which no further call of a caller goes on. */
const TURN_TIME = 3;

interface Turns {
  /** When the caller's next call may go on. */
  last: Promise<void>;
  /** When the caller's first call of this turn went on, milliseconds on the monotonic clock. */
  began: number;
}

const callers = new Map<string, Turns>();

/**
 * Waits until a call of a caller may go on. A call begins and ends with a few milliseconds of work, and one caller may have many that do
 * so in the same turn of the event loop, in which nobody else is served. The rest wait for the next turns.
 */
export function takeTurn(caller: string): Promise<void> {
  const turns = callers.get(caller) ?? begin(caller);
  const turn = turns.last;
  turns.last = turn.then(async () => {
    // After the work of the call before.
    await new Promise(process.nextTick);
    if (performance.now() - turns.began >= TURN_TIME) await nextTurn(turns);
  });
  return turn;
}

function begin(caller: string): Turns {
  const turns = { last: Promise.resolve(), began: performance.now() };
  callers.set(caller, turns);
  forgetIdle(caller, turns);
  return turns;
}

async function nextTurn(turns: Turns): Promise<void> {
  await setImmediate();
  turns.began = performance.now();
}

async function forgetIdle(caller: string, turns: Turns): Promise<void> {
  for (let seen: Promise<void> | undefined; seen !== turns.last; await nextTurn(turns)) {
    seen = turns.last;
    await seen;
  }
  callers.delete(caller);
}
