import type { Session } from '../session.ts';

/** Real time that a page may take. What other programs take from it does not count, up to a limit. */
export interface TimeLimit {
  /** Whether a part of the time is used up, or all of it. Called often, because it also measures. */
  isOver(part?: number): Promise<boolean>;
}

/** Maximum factor by which a limit grows on a busy machine. */
const MAX_DELAY = 4;

/**
 * Starts a limit of real milliseconds. Once they have passed, only those count in which the browser had a processor, or in which
 * `isWaiting` was true, which is asked about the time since a point on the clock of `performance.now()`.
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
      if (now - begun >= MAX_DELAY * limit) return true;
      return waited + (await session.processorTime()) - before >= limit;
    },
  };
}
