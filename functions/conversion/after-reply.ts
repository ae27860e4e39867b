import { setTimeout } from 'node:timers/promises';

/** How long a reply waits for work before it, in milliseconds. */
const MAX_DELAY = 1000;

/** Runs work that no caller waits for. */
export type AfterReply = (work: () => void | Promise<void>) => void | Promise<void>;

/**
 * Runs the work before the reply, because Lambda freezes a function that has replied. What takes longer than a second continues with the
 * next call.
 */
export const beforeReply: AfterReply = async (work) => {
  const stop = new AbortController();
  await Promise.race([
    Promise.resolve(work()).finally(() => stop.abort()),
    setTimeout(MAX_DELAY, undefined, { signal: stop.signal }).catch(() => undefined),
  ]);
};

/** Runs the work as soon as the reply has been sent. */
export const afterReply: AfterReply = (work) => {
  setImmediate(work);
};
