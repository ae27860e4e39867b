import { ConversionError } from '../errors.ts';
import type { Invoke } from './invoke.ts';

/** Runs tools in this process, by name. */
export function createInProcessInvoke(handlers: ReadonlyMap<string, Invoke>): Invoke {
  return async (invocation, signal) => {
    const handler = handlers.get(invocation.tool);
    if (!handler) throw new Error(`There is no tool ${invocation.tool}.`);
    return handler(invocation, signal);
  };
}

/** Refuses with `OVERLOADED` what comes while `most` invocations are under way. */
export function limitInvocations(invoke: Invoke, most: number): Invoke {
  let running = 0;
  return async (invocation, signal) => {
    if (running >= most) {
      throw new ConversionError('OVERLOADED', 'The service has all it can do; try again in a few seconds.', {
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
