import { setTimeout } from 'node:timers/promises';
import type { Dependencies } from '../router/dependencies.ts';
import { ConversionError, stoppingError } from '../shared/errors.ts';
import { describe, type Log } from '../shared/log.ts';
import { hasEnded, type Job, type JobEnd } from './job.ts';
import type { JobQueue } from './queue.ts';
import { discardUploads, runJob } from './run.ts';
import type { Jobs } from './store.ts';
import type { Deliveries } from './webhooks/deliveries.ts';

/** How long to wait before another attempt to record what has happened, for example while the disk is full, in milliseconds. */
const RETRY_TIME = 5000;
/** A job that was running when the server was killed this many times fails, because it may be the reason. */
const MAX_STARTS = 10;

export interface LocalQueueOptions {
  readonly jobs: Jobs;
  readonly deliveries: Deliveries;
  /** Returns the dependencies of a conversion whose results are served at an origin. */
  at(origin: string): Dependencies;
  /** Maximum jobs that run at a time, or one more if all others are of one account. */
  readonly total: number;
  /** Maximum queued jobs of an account. */
  readonly maxQueued: number;
  /** Maximum requests of an account that wait for a job, because each holds a connection. */
  readonly maxWaiting: number;
  readonly log: Log;
}

/** The queue of one machine. */
export interface LocalQueue extends JobQueue {
  /** Takes over the jobs that an earlier process has left. */
  load(): Promise<void>;
  /** Stops running jobs, which a later process takes over. */
  close(): Promise<void>;
  state(): Promise<QueueState>;
}

export interface QueueState {
  readonly queued: number;
  readonly running: number;
  /** Seconds since the oldest queued job was accepted. */
  readonly oldest: number;
  /** Number of webhooks with another attempt to come. */
  readonly pending: number;
  /** Number of webhooks that were given up since the start. */
  readonly failed: number;
}

/**
 * Runs the jobs of each account in their order, and accounts in turns. Keeps only the numbers of queued jobs in memory. The
 * table is the truth: a job runs only if it is still queued there, and its end counts only if it is still running.
 */
export function createLocalQueue(options: LocalQueueOptions): LocalQueue {
  const { jobs, deliveries, at, total, maxQueued, maxWaiting, log } = options;
  /** Ascending numbers of the queued jobs of each account, in the order of the turns of the accounts. */
  const queued = new Map<string, number[]>();
  /** Accounts that wait until a time on the monotonic clock, because the service or a limit was at capacity. */
  const paused = new Map<string, number>();
  const running = new Map<string, { readonly account: string; readonly abort: AbortController }>();
  const work = new Set<Promise<void>>();
  const watchers = new Map<string, Set<() => void>>();
  /** Number of requests that wait, by account. */
  const waiting = new Map<string, number>();
  let isClosing = false;

  const canStart = (account: string) => {
    if ((paused.get(account) ?? 0) > performance.now()) return false;
    const others = [...running.values()].filter((each) => each.account !== account);
    const own = running.size - others.length;
    // One account may have every place for half an hour. Then the first job of another gets one more.
    if (own === 0 && new Set(others.map((each) => each.account)).size <= 1) return true;
    const hasOthers = others.length > 0 || queued.size > 1;
    // Keeps a place for jobs of others, which may be shorter.
    return running.size < total && own < (hasOthers ? Math.max(1, total - 1) : total);
  };

  function enqueue(account: string, number: number): void {
    const numbers = queued.get(account) ?? [];
    const index = indexIn(numbers, number);
    if (numbers[index] !== number) numbers.splice(index, 0, number);
    queued.set(account, numbers);
    startNext();
  }

  function dequeue({ account, number }: Job): void {
    const numbers = queued.get(account) ?? [];
    const index = indexIn(numbers, number);
    if (numbers[index] === number) numbers.splice(index, 1);
    if (numbers.length === 0) queued.delete(account);
  }

  function startNext(): void {
    for (const [account, numbers] of queued) {
      if (isClosing || running.size > total) return;
      if (!canStart(account)) continue;
      const number = numbers.shift()!;
      // The account goes to the end of the queue.
      queued.delete(account);
      if (numbers.length > 0) queued.set(account, numbers);
      const abort = new AbortController();
      const place = `${account} ${number}`;
      running.set(place, { account, abort });
      const done = run(account, number, abort.signal)
        .catch((thrown: unknown) => log('job failed', { cause: describe(thrown) }, 'error'))
        .finally(() => {
          running.delete(place);
          work.delete(done);
          startNext();
        });
      work.add(done);
    }
  }

  async function run(account: string, number: number, signal: AbortSignal): Promise<void> {
    const [found] = await jobs.list(account, { before: number + 1, limit: 1 });
    const job = found?.number === number ? await persist(() => jobs.start(found)) : undefined;
    if (!job) return;
    notify(job);
    const dependencies = at(job.call.origin);
    const attempt = await runJob(job, dependencies, signal).catch((thrown: unknown): JobEnd => {
      log('internal error', { requestId: job.id, cause: describe(thrown) }, 'error');
      return { status: 'failed', error: ConversionError.from(thrown).toReport() };
    });
    if (attempt.status === 'later') {
      if (!(await persist(() => jobs.requeue(job, true)))) return;
      pause(account, 1000 * attempt.seconds);
      return enqueue(account, number);
    }
    const ended = await persist(() => jobs.end(job, attempt));
    if (!ended && attempt.status === 'done')
      await discardResult(job, attempt.result.objectKeys, dependencies);
    await discardUploads(job, dependencies);
    if (!ended) return;
    notify(ended);
    deliveries.add(ended);
  }

  function pause(account: string, time: number): void {
    paused.set(account, performance.now() + time);
    const resume = () => {
      paused.delete(account);
      startNext();
    };
    setTimeout(time, undefined, { ref: false }).then(resume);
  }

  /** Repeats a change until it is on the disk. */
  async function persist<Value>(change: () => Promise<Value>): Promise<Value> {
    for (;;) {
      try {
        return await change();
      } catch (thrown) {
        if (isClosing) throw thrown;
        log('job not recorded', { cause: describe(thrown) }, 'error');
        await setTimeout(RETRY_TIME, undefined, { ref: false });
      }
    }
  }

  function notify({ id }: Job): void {
    for (const watcher of watchers.get(id) ?? []) watcher();
  }

  async function takeOver(job: Job): Promise<void> {
    const { account, number } = job;
    if (job.status === 'queued') return enqueue(account, number);
    if (hasEnded(job)) return deliveries.add(job);
    if (running.has(`${account} ${number}`)) return;
    if (job.starts < MAX_STARTS) return void ((await jobs.requeue(job)) && enqueue(account, number));
    const error = new ConversionError(
      'INTERNAL',
      `The service has stopped ${MAX_STARTS} times during this job.`,
    );
    const ended = await jobs.end(job, { status: 'failed', error: error.toReport() });
    if (ended) deliveries.add(ended);
  }

  return {
    jobs,
    checkRoom(account) {
      if ((queued.get(account)?.length ?? 0) < maxQueued) return;
      const message = `This account may have ${maxQueued} jobs queued. Retry when some have ended.`;
      throw new ConversionError('RATE_LIMITED', message, { retryAfter: 10 });
    },
    checkWebhook: deliveries.check,
    submit: async ({ account, number }) => enqueue(account, number),
    async stop(job) {
      dequeue(job);
      running.get(`${job.account} ${job.number}`)?.abort.abort();
      notify(job);
    },
    deliver: async (job) => deliveries.add(job, { again: true }),
    place({ account, number }) {
      const numbers = queued.get(account) ?? [];
      const index = indexIn(numbers, number);
      return numbers[index] === number ? index + 1 : undefined;
    },
    async changed({ id, account }, time, signal) {
      const count = (waiting.get(account) ?? 0) + 1;
      if (count > maxWaiting) {
        const message = `This account may wait for jobs with ${maxWaiting} requests at a time.`;
        throw new ConversionError('RATE_LIMITED', message, { retryAfter: 1 });
      }
      waiting.set(account, count);
      const own = watchers.get(id) ?? new Set();
      const change = Promise.withResolvers<void>();
      watchers.set(id, own.add(change.resolve));
      const timer = globalThis.setTimeout(change.resolve, isClosing || signal.aborted ? 0 : time);
      signal.addEventListener('abort', () => change.resolve(), { once: true });
      await change.promise;
      clearTimeout(timer);
      own.delete(change.resolve);
      if (own.size === 0) watchers.delete(id);
      waiting.set(account, waiting.get(account)! - 1);
      if (waiting.get(account) === 0) waiting.delete(account);
      return !isClosing && !signal.aborted;
    },
    async load() {
      for await (const job of jobs.all()) {
        if (isClosing) return;
        await takeOver(job);
      }
      startNext();
    },
    async close() {
      isClosing = true;
      for (const { abort } of running.values()) abort.abort(stoppingError());
      for (const own of watchers.values()) for (const watcher of own) watcher();
      await Promise.all([...work, deliveries.close()]);
    },
    async state() {
      const heads = [...queued].map(async ([account, [number = 0]]) => {
        const [job] = await jobs.list(account, { before: number + 1, limit: 1 });
        return job?.created ?? Date.now();
      });
      const oldest = Math.max(0, ...(await Promise.all(heads)).map((created) => Date.now() - created));
      const count = [...queued.values()].reduce((sum, numbers) => sum + numbers.length, 0);
      return { queued: count, running: running.size, oldest: oldest / 1000, ...deliveries.state() };
    },
  };
}

/** Returns the first index whose number is not smaller. */
function indexIn(numbers: readonly number[], number: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Deletes the result of a job that was canceled in the last moment. */
async function discardResult(
  { account }: Job,
  objectKeys: readonly string[],
  { storage, log }: Pick<Dependencies, 'storage' | 'log'>,
): Promise<void> {
  const removed = objectKeys.map((objectKey) => storage.remove({ account, objectKey }));
  await Promise.all(removed).catch((thrown: unknown) => {
    log('result not deleted', { cause: describe(thrown) }, 'error');
  });
}
