import { isValid, type KeyRecord } from '../platform/keys.ts';
import { logFields } from '../router/call.ts';
import { runConversion } from '../router/conversion.ts';
import type { Dependencies } from '../router/dependencies.ts';
import { ConversionError } from '../shared/errors.ts';
import { describe } from '../shared/log.ts';
import { type Job, type JobEnd, MAX_QUEUED, requestOf } from './job.ts';

/** How a run of a job ended. A job that has to wait is tried again in some seconds. */
export type Attempt = JobEnd | { readonly status: 'later'; readonly seconds: number };

const RETRY = 5;

/** Runs a job with the rights that its key has now, like any other conversion of the account. */
export async function runJob(job: Job, dependencies: Dependencies, signal: AbortSignal): Promise<Attempt> {
  const { id, call, created } = job;
  const { uploads, traceparent } = call;
  if (Date.now() - created > MAX_QUEUED)
    return failed(new ConversionError('TIMED_OUT', 'The job was queued for more than a day.'));
  const began = performance.now();
  const trace = { requestId: id, traceparent };
  const key = await currentKey(call.key, dependencies);
  if (!key) return failed(new ConversionError('INVALID_KEY', 'The API key of this job is no longer valid.'));
  const ended = await runConversion(
    { key, trace, signal, query: [], accepted: { request: requestOf(job, dependencies.tools), uploads } },
    dependencies,
    { deliver: async ({ result }) => result },
  );
  const isFailure = 'error' in ended;
  const status = isFailure ? ended.error.status : 200;
  dependencies.log('job', logFields(trace, ended.facts, status, performance.now() - began));
  if (!isFailure) {
    const { measured: _, ...result } = ended.value;
    return { status: 'done', result };
  }
  const { error } = ended;
  // A caller would have to retry, so the job does.
  const isBusy = ['RATE_LIMITED', 'OVERLOADED'].includes(error.code);
  return isBusy ? { status: 'later', seconds: error.retryAfter ?? RETRY } : failed(error);
}

function failed(error: ConversionError): JobEnd {
  return { status: 'failed', error: error.toReport() };
}

/** Returns the key of a job if it may still be used. The session of a member is not a stored key. */
async function currentKey(
  key: KeyRecord,
  { keys, isDisabled }: Pick<Dependencies, 'keys' | 'isDisabled'>,
): Promise<KeyRecord | undefined> {
  if (await isDisabled?.(key.account)) return undefined;
  const found = keys.get && key.id.startsWith('key_') ? await keys.get(key.id) : key;
  return found && isValid(found) ? found : undefined;
}

/** Deletes the files that were sent with a job. */
export async function discardUploads(
  { account, call }: Job,
  { uploads, log }: Pick<Dependencies, 'uploads' | 'log'>,
): Promise<void> {
  const removed = call.uploads.objectKeys.map((objectKey) => uploads?.remove({ account, objectKey }));
  await Promise.all(removed).catch((thrown: unknown) => {
    log('upload not deleted', { cause: describe(thrown) }, 'error');
  });
}
