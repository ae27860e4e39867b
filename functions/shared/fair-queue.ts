/** Limits concurrent work per account and in total. Waiting accounts take turns. */
export interface FairQueue {
  /** Runs `work` as soon as both limits allow it. Rejects with the signal's reason if that fires while it waits. */
  run<Result>(account: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
}

/**
 * Creates a queue that runs at most `total` pieces of work, at most `perAccount` of them for one account. A limit that is a
 * function may change over time.
 */
export function createFairQueue({
  total,
  perAccount,
}: {
  total: number;
  perAccount: number | ((account: string) => number);
}): FairQueue {
  const max = typeof perAccount === 'number' ? () => perAccount : perAccount;
  /** Accounts in the order of their turns; a Map keeps insertion order. */
  const waiting = new Map<string, Array<() => void>>();
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

  /** Starts as much as the limits allow, which is more than one if a limit has grown. */
  function startNext(): void {
    for (const [account, starts] of waiting) {
      if (sum >= total) return;
      if (!isFree(account)) continue;
      const start = starts.shift()!;
      // The account goes to the back of the line.
      waiting.delete(account);
      if (starts.length > 0) waiting.set(account, starts);
      begin(account);
      start();
    }
  }

  async function waitForTurn(account: string, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (!waiting.has(account) && isFree(account)) return begin(account);
    const turn = Promise.withResolvers<void>();
    const starts = waiting.get(account) ?? [];
    waiting.set(account, [...starts, turn.resolve]);
    const leave = () => {
      const remaining = waiting.get(account)?.filter((start) => start !== turn.resolve) ?? [];
      if (remaining.length > 0) waiting.set(account, remaining);
      else waiting.delete(account);
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
