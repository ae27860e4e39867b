import { ConversionError } from '../../shared/errors.ts';
import { untilAborted, withTimeout } from '../../shared/time.ts';
import { type Invocation, type Invoke, readResult } from '../invoke.ts';

interface LocalInvoke {
  /** Rejects with `OVERLOADED` at the maximum, and for an account that has half of it, which leaves a part to others. */
  readonly invoke: Invoke;
  /** Waits for all handlers. Callers do not wait for one that they aborted, but its directory exists until it ends. */
  ended(): Promise<unknown>;
}

interface Limits {
  /** Maximum number of concurrent invocations. */
  readonly max?: number;
  /** How long after the deadline the caller of a handler that does not stop gets a timeout, in milliseconds. */
  readonly slack?: number;
}

/** Runs tools in this process, by name. A handler stops at its own deadline. */
export function createLocalInvoke(
  handlers: ReadonlyMap<string, Invoke>,
  { max = Number.POSITIVE_INFINITY, slack = 10_000 }: Limits = {},
): LocalInvoke {
  const share = Math.max(1, Math.ceil(max / 2));
  const running = new Map<string, number>();
  const conversions = new Set<Promise<unknown>>();
  let sum = 0;

  async function run(invocation: Invocation, signal: AbortSignal) {
    const handler = handlers.get(invocation.tool);
    if (!handler) throw new Error(`There is no tool named ${invocation.tool}.`);
    const conversion = handler(invocation, signal).finally(() => conversions.delete(conversion));
    conversions.add(conversion);
    const result = await withTimeout(invocation.deadline + slack - Date.now(), signal, (stop) =>
      untilAborted(stop, conversion),
    );
    return readResult(result);
  }

  return {
    async invoke(invocation, signal) {
      const { account } = invocation;
      const own = running.get(account) ?? 0;
      if (sum >= max) throw new ConversionError('OVERLOADED');
      if (own >= share) {
        const message = `This account already has ${own} of ${share} conversions in progress. Retry in 5 seconds.`;
        throw new ConversionError('OVERLOADED', message, { details: { share } });
      }
      sum += 1;
      running.set(account, own + 1);
      try {
        return await run(invocation, signal);
      } finally {
        sum -= 1;
        const left = running.get(account)! - 1;
        if (left === 0) running.delete(account);
        else running.set(account, left);
      }
    },
    ended: () => Promise.allSettled(conversions),
  };
}
