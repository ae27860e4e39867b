/** Runs work that no caller waits for. */
export type AfterReply = (work: () => void | Promise<void>) => void | Promise<void>;

/** Runs the work before the reply, because Lambda freezes a function that has replied. */
export const beforeReply: AfterReply = (work) => work();

/** Runs the work as soon as the reply has been sent. */
export const afterReply: AfterReply = (work) => {
  setImmediate(work);
};
