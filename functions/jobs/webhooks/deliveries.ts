import { setImmediate } from 'node:timers/promises';
import { createFairQueue } from '../../shared/fair-queue.ts';
import { describe, type Log } from '../../shared/log.ts';
import type { Job } from '../job.ts';
import type { Jobs } from '../store.ts';
import {
  attemptDelivery,
  checkWebhook,
  type DeliveryDependencies,
  isPending,
  logDelivery,
} from './attempt.ts';

/** Delivers the webhooks of one machine. */
export interface Deliveries {
  check(url: string, account: string, signal: AbortSignal): Promise<void>;
  /** Delivers the webhook of a job that has ended, if there is one. `again` starts with the first attempt. */
  add(job: Job, options?: { readonly again?: boolean }): Promise<void>;
  /** Number of webhooks with another attempt to come, and of those that were given up since the start. */
  state(): { readonly pending: number; readonly failed: number };
  close(): Promise<void>;
}

/** An attempt only waits, so slow receivers of a few accounts do not keep others waiting. */
const CONCURRENCY = { total: 64, perAccount: 4 };
/** How often to look for attempts that are due, in milliseconds. */
const INTERVAL = 500;
/** How many attempts begin without a pause for other work. */
const BATCH = 50;

/**
 * Keeps the numbers of jobs with pending webhooks in memory. The table is the truth: an attempt is recorded after it was
 * made, so a killed server may repeat it, with the same ID.
 */
export function createDeliveries(
  jobs: Jobs,
  dependencies: DeliveryDependencies & { isInsecureAllowed(url: URL): boolean },
  log: Log,
): Deliveries {
  /** When the next attempt of each job is due, in epoch milliseconds. */
  const due = new Map<string, { readonly account: string; readonly id: string; readonly time: number }>();
  const queue = createFairQueue(CONCURRENCY);
  const closing = new AbortController();
  const work = new Set<Promise<void>>();
  let failures = 0;

  const plan = ({ account, id, delivery }: Job) => due.set(id, { account, id, time: delivery?.next ?? 0 });

  async function attempt(account: string, id: string): Promise<void> {
    const job = await jobs.get(account, id);
    if (!job || !isPending(job)) return;
    const delivery = await attemptDelivery(job, dependencies, closing.signal);
    if (closing.signal.aborted) return;
    if (delivery.state === 'failed') failures += 1;
    logDelivery(job, delivery, log);
    const recorded = await jobs.deliver(job, delivery);
    if (recorded && isPending(recorded)) plan(recorded);
  }

  async function sendDue(): Promise<void> {
    const now = Date.now();
    let begun = 0;
    for (const { account, id, time } of due.values()) {
      if (time > now || closing.signal.aborted) continue;
      due.delete(id);
      begun += 1;
      // Thousands may be due at once.
      if (begun % BATCH === 0) await setImmediate();
      const done = queue
        .run(account, () => attempt(account, id), closing.signal)
        .catch((thrown: unknown) => {
          if (closing.signal.aborted) return;
          log('webhook not recorded', { requestId: id, cause: describe(thrown) }, 'error');
          due.set(id, { account, id, time: Date.now() + 10 * INTERVAL });
        })
        .finally(() => work.delete(done));
      work.add(done);
    }
  }
  const timer = setInterval(sendDue, INTERVAL);
  timer.unref();

  return {
    check: (url, account, signal) => checkWebhook(url, account, dependencies, signal),
    async add(job, { again = false } = {}) {
      const { delivery } = job;
      if (!delivery) return;
      const restart = { ...delivery, state: 'pending' as const, attempts: 0, next: Date.now() };
      const planned = again ? await jobs.deliver(job, restart) : job;
      if (planned && isPending(planned)) plan(planned);
    },
    state: () => ({ pending: due.size + work.size, failed: failures }),
    async close() {
      clearInterval(timer);
      closing.abort();
      await Promise.all(work);
    },
  };
}
