import { setImmediate } from 'node:timers/promises';

/** Maximum milliseconds of work per caller and event-loop turn. */
const TURN_TIME = 3;

interface Turns {
  /** Resolves when the caller's next call may proceed. */
  last: Promise<void>;
  /** When the caller's first call of this turn proceeded, in milliseconds on the monotonic clock. */
  began: number;
}

const callers = new Map<string, Turns>();

/**
 * Yields so that the calls of one caller use at most `TURN_TIME` per event-loop turn. The rest run in later turns. A
 * call starts and ends with a few milliseconds of work, during which no other caller is served.
 */
export function takeTurn(caller: string): Promise<void> {
  const turns = callers.get(caller) ?? begin(caller);
  const turn = turns.last;
  turns.last = turn.then(async () => {
    // Continues after the work of the previous call.
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
