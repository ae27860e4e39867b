import { ConversionError } from '../errors.ts';
import type { Invoke } from './invoke.ts';

/**
 * Runs tools in this process, by name, and waits for none longer than `slack` milliseconds past its deadline, nor
 * after its caller has gone: a handler stops by itself, but nobody should hang when one does not.
 */
export function createInProcessInvoke(
  handlers: ReadonlyMap<string, Invoke>,
  { slack = 10_000 }: { slack?: number } = {},
): Invoke {
  return async (invocation, signal) => {
    const handler = handlers.get(invocation.tool);
    if (!handler) throw new Error(`There is no tool ${invocation.tool}.`);

    const ended = Promise.withResolvers<never>();
    const late = new ConversionError('TIMED_OUT', 'The conversion took longer than it may.');
    const timer = setTimeout(() => ended.reject(late), invocation.deadline + slack - Date.now());
    const leave = () => ended.reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    try {
      return await Promise.race([handler(invocation, signal), ended.promise]);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
    }
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
