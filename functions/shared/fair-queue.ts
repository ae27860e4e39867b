/** Limits concurrent work per account and in total. Waiting accounts take turns. */
export interface FairQueue {
  /**
   * Runs `work` as soon as both limits allow it. Rejects with the signal's reason if that fires while it waits, and
   * with `tooMany` if too much work of the account is already waiting.
   */
  run<Result>(account: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
}

/**
 * Runs at most `total` tasks, `perAccount` per account. Up to `maxWaiting` more per account may queue. A limit that
 * is a function may change over time.
 */
export function createFairQueue({
  total,
  perAccount,
  maxWaiting = Number.POSITIVE_INFINITY,
  tooMany = () => new Error('Too much work is waiting.'),
}: {
  total: number;
  perAccount: number | ((account: string) => number);
  maxWaiting?: number;
  tooMany?: () => Error;
}): FairQueue {
  const max = typeof perAccount === 'number' ? () => perAccount : perAccount;
  /** Accounts in the order of their turns, with their waiting tasks. Maps and sets keep the order of insertion. */
  const waiting = new Map<string, Set<() => void>>();
  const running = new Map<string, number>();
  let sum = 0;

  const isFree = (account: string) => sum < total && (running.get(account) ?? 0) < max(account);

  const begin = (account: string) => {
    sum += 1;
    running.set(account, (running.get(account) ?? 0) + 1);
  };

  const end = (account: string) => {
    sum -= 1;
    const left = running.get(account)! - 1;
    if (left === 0) running.delete(account);
    else running.set(account, left);
    startNext();
  };

  /** Starts as many tasks as the limits allow, which is more than one if a limit has grown. */
  function startNext(): void {
    for (const [account, starts] of waiting) {
      if (sum >= total) return;
      if (!isFree(account)) continue;
      const [start] = starts;
      starts.delete(start!);
      // The account goes to the end of the queue.
      waiting.delete(account);
      if (starts.size > 0) waiting.set(account, starts);
      begin(account);
      start!();
    }
  }

  async function waitForTurn(account: string, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (!waiting.has(account) && isFree(account)) return begin(account);
    const starts = waiting.get(account) ?? new Set();
    if (starts.size >= maxWaiting) throw tooMany();
    const turn = Promise.withResolvers<void>();
    waiting.set(account, starts.add(turn.resolve));
    const leave = () => {
      starts.delete(turn.resolve);
      if (starts.size === 0 && waiting.get(account) === starts) waiting.delete(account);
      turn.reject(signal?.reason);
    };
    signal?.addEventListener('abort', leave, { once: true });
    try {
      await turn.promise;
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  }

  return {
    async run(account, work, signal) {
      await waitForTurn(account, signal);
      try {
        return await work();
      } finally {
        end(account);
      }
    },
  };
}
