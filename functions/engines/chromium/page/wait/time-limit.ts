import type { Session } from '../session.ts';

/** A limit of real time for a page. Time that other programs take from it does not count, up to a maximum. */
export interface TimeLimit {
  /** Whether the time, or the given part of it, is used up. Call it often, because it also measures. */
  isOver(part?: number): Promise<boolean>;
}

/** Maximum factor by which a limit grows on a busy machine. */
const MAX_STRETCH = 4;

/**
 * Starts a limit of real milliseconds. Beyond them, it counts only the browser's CPU time and the time in which
 * `isWaiting` was true, up to `MAX_STRETCH` times the limit. `isWaiting` gets the start of the interval that it is
 * asked about, on the clock of `performance.now()`.
 */
export async function startTimeLimit(
  session: Session,
  time: number,
  isWaiting: (since: number) => boolean,
): Promise<TimeLimit> {
  const begun = performance.now();
  const before = await session.processorTime();
  let measured = begun;
  let waited = 0;
  return {
    isOver: async (part = 1) => {
      const now = performance.now();
      if (isWaiting(measured)) waited += now - measured;
      measured = now;
      const limit = part * time;
      if (now - begun < limit) return false;
      if (now - begun >= MAX_STRETCH * limit) return true;
      return waited + (await session.processorTime()) - before >= limit;
    },
  };
}
