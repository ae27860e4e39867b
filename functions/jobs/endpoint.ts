import type { ConversionRequest } from '../conversion/request.ts';
import type { KeyRecord } from '../platform/keys.ts';
import type { Call } from '../router/call.ts';
import type { Dependencies } from '../router/dependencies.ts';
import { type HttpRequest, JOBS_PATH } from '../router/http.ts';
import { describeResult, type HttpReply, jsonReply, problemsOf, withHeaders } from '../router/reply.ts';
import { once } from '../router/reuse.ts';
import type { CallUploads } from '../router/uploads/call-uploads.ts';
import { ConversionError, ERRORS } from '../shared/errors.ts';
import { quote } from '../shared/quote.ts';
import { hasEnded, type Job, MAX_QUEUED, requestOf, storedRequest } from './job.ts';
import type { JobQueue } from './queue.ts';
import { discardUploads } from './run.ts';

/** Maximum seconds that a request waits for a change. */
export const MAX_WAIT = 60;
/** Maximum jobs in a list, and how many there are by default. */
export const PAGE = { max: 100, absent: 20 };

type KnownCall = Call & { readonly key: KeyRecord };

/** Whether a call can only become a job. */
export function asksForJob({ method, path, query }: HttpRequest): boolean {
  if (method === 'POST' && path === JOBS_PATH) return true;
  return query.some(({ name, value }) => name === '_webhook' || (name === '_async' && value === '1'));
}

/**
 * Accepts a job and returns the response with its URL. Takes over the uploads of the call.
 * @throws ConversionError for a webhook or an upload that cannot be used, and if too many jobs are queued
 */
export async function acceptJob(
  accepted: ConversionRequest,
  uploads: CallUploads,
  { http, present, key, trace, signal }: Omit<KnownCall, 'endpoint'>,
  dependencies: Omit<Dependencies, 'queue'> & {
    readonly queue: Pick<JobQueue, 'jobs' | 'checkRoom' | 'checkWebhook' | 'submit' | 'place'>;
  },
): Promise<HttpReply> {
  const { account } = key;
  const { queue } = dependencies;
  const { webhook } = accepted.job ?? {};
  if (webhook !== undefined) await queue.checkWebhook(webhook, account, signal);
  const origin = http.origin ?? '';
  const idempotent = { accepted, uploads, account, key: http.header('idempotency-key'), maxDuration: 0 };
  let isRepeated = false;
  const job = await once(idempotent, dependencies, {
    plan: async () => {
      queue.checkRoom(account);
      return queue.jobs.reserve(account);
    },
    work: async (id) => {
      const saved = await uploads.save(accepted, Date.now() + MAX_QUEUED);
      const { traceparent } = trace;
      const call = { key, request: storedRequest(accepted), uploads: saved, origin, traceparent };
      const added = await queue.jobs.add(call, id);
      await queue.submit(added).catch(async (thrown: unknown) => {
        // Nothing will run it, and the caller learns of the error.
        await queue.jobs.cancel(added);
        throw thrown;
      });
      return added;
    },
    keep: ({ id }) => id,
    reuse: async (id: string) => {
      const earlier = await queue.jobs.get(account, id);
      isRepeated = earlier !== undefined && !mayBeRepeated(earlier);
      return isRepeated ? earlier : undefined;
    },
  });
  const reply = present.job(urlOf(job, origin), await describeJob(job, dependencies, origin));
  return isRepeated ? withHeaders(reply, { 'Idempotent-Replayed': 'true' }) : reply;
}

/**
 * Responds to a request about the jobs of an account.
 * @throws ConversionError `NOT_FOUND`, `BAD_PARAMETER`
 */
export async function respondAboutJobs(
  { http, key: { account }, signal }: Pick<KnownCall, 'http' | 'key' | 'signal'>,
  dependencies: Dependencies,
): Promise<HttpReply> {
  const { queue } = dependencies;
  const { method, path, origin = '' } = http;
  if (!queue) throw new ConversionError('NOT_FOUND');
  if (path === JOBS_PATH) {
    const limit = readInteger(http, 'limit', 1, PAGE.max) ?? PAGE.absent;
    const before = readInteger(http, 'before', 1, 1e9);
    const found = await queue.jobs.list(account, { limit, before });
    const jobs = await Promise.all(found.map((job) => describeJob(job, dependencies, origin)));
    const last = found.at(-1)?.number ?? 1;
    const next = last > 1 ? `${origin}${JOBS_PATH}?limit=${limit}&before=${last}` : undefined;
    return jsonReply(200, { jobs, next });
  }
  const [id = '', part] = path.slice(JOBS_PATH.length + 1).split('/');
  const job = await queue.jobs.get(account, id);
  if (!job)
    throw new ConversionError('NOT_FOUND', 'This account has no job with this ID, or it has expired.');
  if (part === 'webhook') {
    await deliverAgain(job, queue);
    return { status: 204, headers: { 'Cache-Control': 'no-store' }, body: '' };
  }
  const seconds = readInteger(http, 'wait', 0, MAX_WAIT) ?? 0;
  const current =
    method === 'DELETE'
      ? await cancelJob(job, queue, dependencies)
      : await changed(job, seconds, queue, signal);
  return jsonReply(200, await describeJob(current, dependencies, origin));
}

function readInteger({ query }: HttpRequest, name: string, min: number, max: number): number | undefined {
  const value = query.find((each) => each.name === name)?.value;
  if (value === undefined) return undefined;
  if (/^\d{1,10}$/.test(value) && Number(value) >= min && Number(value) <= max) return Number(value);
  const message = `Parameter '${name}' must be an integer from ${min} to ${max}, got ${quote(value)}.`;
  throw new ConversionError('BAD_PARAMETER', message, { parameter: name });
}

/** Delivers the webhook of a finished job again. @throws ConversionError `BAD_PARAMETER` if there is none */
async function deliverAgain(job: Job, queue: JobQueue): Promise<void> {
  const { state = 'none' } = job.delivery ?? {};
  if (state !== 'none') return queue.deliver(job);
  throw new ConversionError('BAD_PARAMETER', 'This job has no webhook, or has not ended.');
}

/** Cancels a job, unless it has ended, and returns it as it is now. */
async function cancelJob(
  job: Job,
  queue: JobQueue,
  dependencies: Pick<Dependencies, 'uploads' | 'log'>,
): Promise<Job> {
  const canceled = await queue.jobs.cancel(job);
  if (canceled) await Promise.all([queue.stop(job), discardUploads(job, dependencies)]);
  return canceled ?? (await queue.jobs.get(job.account, job.id)) ?? job;
}

/** Returns a job as soon as its status has changed, or after some seconds, or when the server stops. */
async function changed(job: Job, seconds: number, queue: JobQueue, signal: AbortSignal): Promise<Job> {
  const end = performance.now() + 1000 * seconds;
  let current = job;
  while (!hasEnded(job) && current.status === job.status) {
    const left = end - performance.now();
    if (left <= 0 || !(await queue.changed(job, left, signal))) break;
    current = (await queue.jobs.get(job.account, job.id)) ?? job;
  }
  return current;
}

/** Whether the request of a job can be repeated, because it was canceled or failed through no fault of the caller. */
function mayBeRepeated({ status, end }: Job): boolean {
  return status === 'canceled' || (end?.status === 'failed' && ERRORS[end.error.code].status >= 500);
}

function urlOf({ id }: Job, origin: string): string {
  return `${origin}${JOBS_PATH}/${id}`;
}

/** Returns the JSON form of a job. */
export async function describeJob(
  job: Job,
  {
    queue,
    storage,
    tools,
  }: Pick<Dependencies, 'storage' | 'tools'> & { readonly queue?: Pick<JobQueue, 'place'> | undefined },
  origin: string,
) {
  const { id, status, call, created, started, ended, end, delivery } = job;
  const error = end?.status === 'failed' ? ConversionError.fromReport(end.error) : undefined;
  return {
    id,
    url: urlOf(job, origin),
    status,
    place: status === 'queued' ? queue?.place(job) : undefined,
    app: call.request.tool,
    created: timeText(created),
    started: timeText(started),
    ended: timeText(ended),
    ...(end?.status === 'done' && (await describeResult(requestOf(job, tools), end.result, storage))),
    error: error && { code: error.code, detail: error.message, errors: problemsOf(error) },
    webhook: delivery && { ...delivery, next: timeText(delivery.next) },
  };
}

function timeText(milliseconds: number | undefined): string | undefined {
  return milliseconds === undefined ? undefined : new Date(milliseconds).toISOString();
}
