import { randomBytes } from 'node:crypto';
import { folderOf } from '../platform/storage.ts';
import type { Attributes, Condition, Item, Table } from '../platform/table.ts';
import { type Delivery, JOB_LIFE, type Job, type JobCall, type JobEnd, type Status } from './job.ts';

/** Keeps the jobs of all accounts. Each change applies only to a job that is still in the expected state. */
export interface Jobs {
  /** Returns the ID of a job to add. */
  reserve(account: string): Promise<string>;
  /** Adds a job, with an ID that was reserved or a new one. */
  add(call: JobCall, id?: string): Promise<Job>;
  /** Returns a job of an account by its ID. */
  get(account: string, id: string): Promise<Job | undefined>;
  /** Returns the newest jobs of an account, or the newest before a number, newest first. */
  list(
    account: string,
    options: { readonly before?: number | undefined; readonly limit: number },
  ): Promise<Job[]>;
  /** Yields the jobs of all accounts, those of an account in order. On AWS this reads the whole table. */
  all(): AsyncIterable<Job>;
  /** Marks a queued job as running. Like the other changes, returns `undefined` if it is in another state. */
  start(job: Job): Promise<Job | undefined>;
  /** Puts a running job back in the queue. `isForgotten` says whether its start does not count. */
  requeue(job: Job, isForgotten?: boolean): Promise<Job | undefined>;
  /** Records how a running job ended. */
  end(job: Job, end: JobEnd): Promise<Job | undefined>;
  /** Cancels a job that has not ended. */
  cancel(job: Job): Promise<Job | undefined>;
  /** Records an attempt to deliver the webhook of a job, unless another one has been recorded in the meantime. */
  deliver(job: Job, delivery: Delivery): Promise<Job | undefined>;
  /** Deletes the jobs of an account and returns their number. */
  erase(account: string): Promise<number>;
}

/** Maximum number of items in a read. */
const BATCH = 100;
/** How many numbers a list looks for, because those of requests that failed before their jobs were added have none. */
const MAX_LOOKED_UP = 1000;
const PREFIX = 'job#';
const COUNTER = 'jobs#';
const ID = /^job_([0-9a-z]{1,10})_([0-9a-f]{16})$/;

/**
 * Keeps a job in one item, numbered within its account, so that the newest can be read without a search. `counts` may be a
 * faster table that loses the latest changes in a power failure: then jobs that had ended run again, but none is lost.
 */
export function createJobs(table: Table, counts = table): Jobs {
  const prefixOf = (account: string) => `${PREFIX}${folderOf(account)}#`;
  const itemId = (account: string, number: number) => prefixOf(account) + String(number).padStart(10, '0');
  const counterId = (account: string) => COUNTER + folderOf(account);

  const change = async ({ account, number, id }: Job, from: Status, set: Attributes, starts = 0) => {
    const when: Condition = { job: { is: id }, status: { is: from } };
    const item = await counts.update(itemId(account, number), { set, add: { starts }, when });
    return item && readJob(item);
  };
  const numbersBefore = async (account: string, end: number | undefined): Promise<number> => {
    if (end !== undefined) return end - 1;
    return Number((await counts.get(counterId(account)))?.jobs ?? 0);
  };
  const read = async (account: string, last: number, count: number) => {
    const numbers = Array.from({ length: Math.min(count, last) }, (_, ago) => last - ago);
    const items = await table.getAll(numbers.map((number) => itemId(account, number)));
    return items.map((item) => readJob(item)).sort((a, b) => b.number - a.number);
  };

  return {
    async reserve(account) {
      const counted = await counts.update(counterId(account), { add: { jobs: 1 } });
      return `job_${Number(counted!.jobs).toString(36)}_${randomBytes(8).toString('hex')}`;
    },

    async add(call, reserved) {
      const { account } = call.key;
      const id = reserved ?? (await this.reserve(account));
      const number = numberIn(id)!;
      const created = Date.now();
      const { webhook } = call.request.job ?? {};
      const set: Attributes = {
        job: id,
        account,
        number,
        created,
        status: 'queued',
        call: JSON.stringify(call),
        ...(webhook !== undefined && {
          delivery: JSON.stringify({ url: webhook, state: 'none', attempts: 0 } satisfies Delivery),
          attempts: 0,
        }),
        expires: created + JOB_LIFE,
      };
      const item = await table.update(itemId(account, number), { set, when: { id: 'absent' } });
      // A power failure may have lost the latest number, but no job.
      return item ? readJob(item) : this.add(call);
    },

    async get(account, id) {
      const number = numberIn(id);
      const item = number === undefined ? undefined : await table.get(itemId(account, number));
      return item && item.job === id ? readJob(item) : undefined;
    },

    async list(account, { before, limit }) {
      const found: Job[] = [];
      const first = await numbersBefore(account, before);
      const end = Math.max(0, first - MAX_LOOKED_UP);
      for (let [last, count] = [first, limit]; last > end && found.length < limit; count = BATCH) {
        found.push(...(await read(account, last, count)));
        last -= count;
      }
      return found.slice(0, limit);
    },

    async *all() {
      for await (const item of table.list(PREFIX)) yield readJob(item);
    },

    start: (job) => change(job, 'queued', { status: 'running', started: Date.now() }, 1),
    requeue: (job, isForgotten = false) =>
      change(job, 'running', { status: 'queued', started: undefined }, isForgotten ? -1 : 0),
    end: (job, end) => {
      const delivery = job.delivery && { ...job.delivery, state: 'pending', next: Date.now() };
      return change(job, 'running', {
        ...ending(job, end.status),
        end: JSON.stringify(end),
        ...(delivery && { delivery: JSON.stringify(delivery) }),
      });
    },
    async cancel(job) {
      const set = ending(job, 'canceled');
      return (await change(job, 'queued', set)) ?? change(job, 'running', set);
    },

    async deliver({ account, number, delivery: before }, delivery) {
      const item = await counts.update(itemId(account, number), {
        set: { delivery: JSON.stringify(delivery), attempts: delivery.attempts },
        when: { attempts: { is: before?.attempts ?? 0 } },
      });
      return item && readJob(item);
    },

    async erase(account) {
      let erased = 0;
      for (let last = await numbersBefore(account, undefined); last > 0; last -= BATCH) {
        const found = await read(account, last, BATCH);
        for (const { number } of found) await table.remove(itemId(account, number));
        erased += found.length;
      }
      await counts.remove(counterId(account));
      return erased;
    },
  };
}

/** Returns the attributes of a job that ends, without its source and the values of its options. */
function ending({ call }: Job, status: Status): Attributes {
  const { uploads: _, request, ...others } = call;
  const forgotten = { assets: [], objectKeys: [], others: [] };
  const kept = { ...request, source: '', options: {} };
  return {
    status,
    ended: Date.now(),
    call: JSON.stringify({ ...others, request: kept, uploads: forgotten }),
  };
}

/** Returns the number in the ID of a job, or `undefined` for another text. */
function numberIn(id: string): number | undefined {
  const [, number] = ID.exec(id) ?? [];
  return number === undefined ? undefined : parseInt(number, 36);
}

/** Reads an item that this store has written. */
function readJob(item: Item): Job {
  const { started, ended, end, delivery } = item;
  return {
    id: String(item.job),
    account: String(item.account),
    number: Number(item.number),
    status: item.status as Status,
    created: Number(item.created),
    starts: Number(item.starts ?? 0),
    call: JSON.parse(String(item.call)) as JobCall,
    ...(started !== undefined && { started: Number(started) }),
    ...(ended !== undefined && { ended: Number(ended) }),
    ...(end !== undefined && { end: JSON.parse(String(end)) as JobEnd }),
    ...(delivery !== undefined && { delivery: JSON.parse(String(delivery)) as Delivery }),
  };
}
