import { ConversionError } from '../errors.ts';
import { untilAborted, withTimeout } from '../timeout.ts';
import type { Invoke } from './invoke.ts';

/**
 * Runs tools in this process, by name. A handler stops at its deadline by itself; if it does not, the caller gets a
 * timeout `slack` milliseconds later.
 */
export function createInProcessInvoke(
  handlers: ReadonlyMap<string, Invoke>,
  { slack = 10_000 }: { slack?: number } = {},
): Invoke {
  return async (invocation, signal) => {
    const handler = handlers.get(invocation.tool);
    if (!handler) throw new Error(`There is no tool named ${invocation.tool}.`);
    return withTimeout(invocation.deadline + slack - Date.now(), signal, (stop) =>
      untilAborted(stop, handler(invocation, signal)),
    );
  };
}

/** Rejects with `OVERLOADED` while `most` invocations are running. */
export function limitInvocations(invoke: Invoke, most: number): Invoke {
  let running = 0;
  return async (invocation, signal) => {
    if (running >= most) {
      throw new ConversionError('OVERLOADED', 'The service is at capacity. Retry in 5 seconds.', {
        retryAfter: 5,
      });
    }
    running += 1;
    try {
      return await invoke(invocation, signal);
    } finally {
      running -= 1;
    }
  };
}
