import { createHash } from 'node:crypto';
import type { DurableContext } from '@aws/durable-execution-sdk-js';
import type { ObjectRule } from '../../platform/aws/environment.ts';
import type { KeyRecord } from '../../platform/keys.ts';
import { runConversion } from '../../router/conversion.ts';
import { JOBS_PATH } from '../../router/http.ts';
import { presentationOf } from '../../router/reply.ts';
import { ConversionError, type ErrorCode } from '../../shared/errors.ts';
import { acceptJob } from '../endpoint.ts';
import { type ExecutionDependencies, executeJob } from './execution.ts';

/** The part of EventBridge's event `Object Created` of S3 that is used. */
export interface ObjectCreated {
  readonly detail: {
    readonly bucket: { readonly name: string };
    readonly object: {
      readonly key: string;
      /** Absent in a bucket without versions. */
      readonly 'version-id'?: string;
      readonly etag?: string;
      readonly sequencer?: string;
    };
  };
  /** Any text, in an event that is sent again, so that it becomes another job. */
  readonly again?: string;
}

export interface ObjectDependencies extends ExecutionDependencies {
  readonly rules: readonly ObjectRule[];
  /** Origin of the service. */
  readonly origin: string;
}

/** Maximum characters of an object's name in that of its result. */
const MAX_NAME = 120;
/** Errors of the caller that may pass, for example when another event for the same object has been handled. */
const PASSING: readonly ErrorCode[] = ['REQUEST_IN_PROGRESS', 'RATE_LIMITED'];

/**
 * Converts an object that was put into a bucket, as a job of the account that its rule names.
 * @throws Error with the reason if the job is not accepted or fails, so that Lambda keeps the event in the queue for failures
 */
export async function executeObject(
  event: ObjectCreated,
  context: DurableContext,
  dependencies: ObjectDependencies,
): Promise<void> {
  const { rules, jobs } = dependencies;
  const { bucket, object } = event.detail;
  const rule = rules.find(
    (each) =>
      each.bucket === bucket.name && object.key.startsWith(each.prefix) && object.key.endsWith(each.suffix),
  );
  if (!rule) return;
  const { account } = rule;
  const id = await context.step('reserve', () => jobs.reserve(account));
  const accepted = await context.step('accept', () => acceptObject(event, rule, id, dependencies));
  if ('refusal' in accepted) throw new Error(accepted.refusal);
  // Another event for the same object was faster.
  if (accepted.id !== id) return;
  await executeJob({ account, job: id }, context, dependencies);
  const { end } = (await jobs.get(account, id)) ?? {};
  if (end?.status === 'failed') throw new Error(`${id}: ${end.error.message} (${end.error.code})`);
}

/**
 * Adds the job for an object, and returns its ID, which is another one if there is such a job already, or why it cannot be a
 * job. Fails with an error after which a repetition may succeed.
 */
async function acceptObject(
  { detail: { bucket, object }, again }: ObjectCreated,
  { account, query, outfile, to }: ObjectRule,
  id: string,
  { conversion, jobs, origin }: ObjectDependencies,
): Promise<{ readonly id: string } | { readonly refusal: string }> {
  const { 'version-id': version = `${object.etag} ${object.sequencer}` } = object;
  const identity = JSON.stringify([bucket.name, object.key, version, again]);
  const idempotencyKey = createHash('sha256').update(identity).digest('hex');
  const name = nameOf(object.key);
  const parameters = [
    ...[...new URLSearchParams(query)].map(([name, value]) => ({ name, value })),
    { name: 'infile', value: `s3://${bucket.name}/${object.key}` },
    { name: 'outfile', value: outfile.replaceAll('{name}', name) },
    ...(to === undefined ? [] : [{ name: '_to', value: to }]),
  ];
  const headers: Readonly<Record<string, string>> = {
    'idempotency-key': idempotencyKey,
    accept: 'application/json',
  };
  const header = (name: string) => headers[name];
  const http = { method: 'POST', path: JOBS_PATH, query: parameters, header, origin };
  const key: KeyRecord = { id: 'bucket', account, name: 'bucket', created: 0, disabled: false, limits: {} };
  const signal = new AbortController().signal;
  const queue = {
    jobs: { ...jobs, reserve: async () => id },
    checkRoom: () => {},
    place: () => undefined,
    checkWebhook: async () => {},
    // This execution runs it.
    submit: async () => {},
  };
  const trace = { requestId: id, traceparent: undefined };
  const call = { http, present: presentationOf(http, id), key, trace, signal };
  const ended = await runConversion<string>(
    { key, trace, signal, query: parameters, isJob: true },
    conversion,
    {
      deliver: () => Promise.reject(new ConversionError('INTERNAL')),
      defer: async (request, uploads) => {
        const { body } = await acceptJob(request, uploads, call, { ...conversion, queue });
        return String(JSON.parse(String(body)).id);
      },
    },
  );
  if ('value' in ended) return { id: ended.value };
  const { error } = ended;
  if (error.status >= 500 || PASSING.includes(error.code)) throw error;
  return { refusal: `${error.message} (${error.code})` };
}

/** Returns the name of an object without its extension, as a result may have it. */
function nameOf(key: string): string {
  const name = key
    .split('/')
    .at(-1)!
    .replace(/\.[^.]*$/, '');
  const allowed = name.replace(/[^\p{L}\p{N} ._-]/gu, '_').replace(/^\.|\.(?=\.)/g, '_');
  return allowed.slice(0, MAX_NAME);
}
