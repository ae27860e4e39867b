import { ConversionError } from '../../shared/errors.ts';
import { untilAborted, withTimeout } from '../../shared/timeout.ts';
import type { Invoke } from '../invoke/invoke.ts';
import { readResult } from '../invoke/result.ts';

/**
 * Runs tools in this process, by name. A handler stops at its own deadline. If it does not, the caller gets a timeout
 * `slack` milliseconds later.
 */
export function createInProcessInvoke(
  handlers: ReadonlyMap<string, Invoke>,
  { slack = 10_000 }: { slack?: number } = {},
): Invoke {
  return async (invocation, signal) => {
    const handler = handlers.get(invocation.tool);
    if (!handler) throw new Error(`There is no tool named ${invocation.tool}.`);
    const result = await withTimeout(invocation.deadline + slack - Date.now(), signal, (stop) =>
      untilAborted(stop, handler(invocation, signal)),
    );
    return readResult(result);
  };
}

/**
 * Rejects with `OVERLOADED` while `max` invocations are running, or half as many for one account, so that no account
 * can fill the whole queue.
 */
export function limitInvocations(invoke: Invoke, max: number): Invoke {
  const share = Math.max(1, Math.ceil(max / 2));
  const running = new Map<string, number>();
  let sum = 0;
  return async (invocation, signal) => {
    const { account } = invocation;
    const own = running.get(account) ?? 0;
    if (sum >= max) throw overloadedError('The service is at capacity. Retry in 5 seconds.');
    if (own >= share)
      throw overloadedError(
        `This account already has ${own} of ${share} conversions in progress. Retry in 5 seconds.`,
        { share },
      );
    sum += 1;
    running.set(account, own + 1);
    try {
      return await invoke(invocation, signal);
    } finally {
      sum -= 1;
      const left = running.get(account)! - 1;
      if (left === 0) running.delete(account);
      else running.set(account, left);
    }
  };
}

function overloadedError(message: string, values?: { share: number }): ConversionError {
  return new ConversionError('OVERLOADED', message, { retryAfter: 5, values });
}
