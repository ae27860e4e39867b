import { createHash } from 'node:crypto';
import type { ConversionRequest } from '../conversion/request.ts';
import type { Idempotency } from '../platform/idempotency.ts';
import type { InvocationResult } from '../platform/invoke.ts';
import type { ResultCache } from '../platform/result-cache.ts';
import type { Storage } from '../platform/storage.ts';
import { ConversionError, ERRORS } from '../shared/errors.ts';
import { describe, type Log } from '../shared/log.ts';
import { replaceSources } from '../shared/options/sources.ts';
import { abortError, untilAborted } from '../shared/time.ts';
import { LEASE_GRACE } from './admission/admit.ts';
import type { CallUploads } from './uploads/call-uploads.ts';

/** Whether a request with `_cache` used an earlier result, for the header `X-Cache`. */
export type CacheStatus = 'hit' | 'miss';

interface ReuseDependencies {
  readonly resultCache?: ResultCache | undefined;
  readonly idempotency?: Idempotency | undefined;
  readonly storage: Pick<Storage, 'exists'>;
  readonly log: Log;
}

/** The header that names a request, so that it can be repeated. */
export const IDEMPOTENCY_KEY = 'Idempotency-Key';

interface CachedConversion {
  readonly result: InvocationResult;
  /** Absent for a request without `_cache`. */
  readonly cache?: CacheStatus;
  /** When the earlier result was stored, in epoch milliseconds. */
  readonly created?: number;
}

/**
 * Runs a conversion. If all sources still have the `known` validators, the earlier result is valid and nothing is
 * converted.
 */
type Convert = (validate?: { readonly known?: string }) => Promise<InvocationResult>;

/**
 * Returns the result of an identical request of the same account if it is not older than `_cache` seconds and all
 * sources still have the same validators (`ETag`, `Last-Modified`, length). Otherwise converts. Sources without
 * validators are not checked again, and files that were sent do not change.
 */
export async function convertCached(
  { accepted, account }: { readonly accepted: ConversionRequest; readonly account: string },
  { resultCache, storage, log }: ReuseDependencies,
  convert: Convert,
): Promise<CachedConversion> {
  const { cache: seconds } = accepted;
  if (seconds === undefined) return { result: await convert() };
  if (!resultCache) return { result: await convert(), cache: 'miss' };
  const failed = (thrown: unknown) => log('result cache failed', { cause: describe(thrown) }, 'error');
  const identity = hashOf(identityOf(account, accepted));
  const found = await resultCache.get(account, identity).catch(failed);
  const isRecent = found && Date.now() - found.created < 1000 * seconds;
  const kept = isRecent && (await areStored(found.result, storage).catch(failed)) ? found : undefined;
  if (kept && kept.result.validators === undefined)
    return { result: kept.result, cache: 'hit', created: kept.created };

  const known = kept?.result.validators;
  const result = await convert({ ...(known !== undefined && { known }) });
  if (kept && result.ok && result.unchanged)
    return { result: { ...result, ...kept.result }, cache: 'hit', created: kept.created };
  if (result.ok) {
    const { measured: _, ...facts } = result;
    await resultCache.put(account, identity, { created: Date.now(), result: facts }).catch(failed);
  }
  return { result, cache: 'miss' };
}

/** Whether the files of a result still exist. An error has none. */
async function areStored(result: InvocationResult, storage: Pick<Storage, 'exists'>): Promise<boolean> {
  const stored = (result.ok ? result.objectKeys : []).map((objectKey) => storage.exists(objectKey));
  return (await Promise.all(stored)).every(Boolean);
}

export interface OnceRequest {
  readonly accepted: ConversionRequest;
  readonly uploads: Pick<CallUploads, 'identify'>;
  readonly account: string;
  /** The value of the header, if it was sent. */
  readonly key: string | undefined;
  /** Maximum milliseconds that the request runs. */
  readonly maxDuration: number;
}

/**
 * Converts, unless an earlier request of the same account had the same `Idempotency-Key`: then returns its result, signed
 * anew, in the form that this request asks for. Costs nothing without a key.
 * @throws ConversionError `BAD_PARAMETER`, and those of `Idempotency`
 */
export async function convertOnce<Converted extends { readonly result: InvocationResult }>(
  request: OnceRequest,
  dependencies: ReuseDependencies,
  convert: () => Promise<Converted>,
): Promise<Converted | { readonly result: InvocationResult; readonly isRepeated: true }> {
  return once(request, dependencies, {
    work: convert,
    keep: ({ result: { measured: _, ...result } }) =>
      result.ok || ERRORS[result.error.code].status < 500 ? result : undefined,
    reuse: async (result: InvocationResult) =>
      (await areStored(result, dependencies.storage)) ? { result, isRepeated: true as const } : undefined,
  });
}

/**
 * Does `work`, unless an earlier request of the same account had the same `Idempotency-Key`: then `reuse` returns its result
 * from what `keep` had left of it. Nothing is kept of a failure that is not the caller's.
 */
export async function once<Result, Kept, Reused>(
  { accepted, uploads, account, key, maxDuration }: OnceRequest,
  { idempotency, log }: Pick<ReuseDependencies, 'idempotency' | 'log'>,
  {
    plan,
    work,
    keep,
    reuse,
  }: {
    /** Returns what will be kept, if that is known before the work. */
    plan?(): Promise<Kept>;
    work(planned: Kept | undefined): Promise<Result>;
    keep(result: Result): Kept | undefined;
    /** Returns `undefined` if the result does not exist any more. */
    reuse(kept: Kept): Promise<Reused | undefined>;
  },
): Promise<Result | Reused> {
  if (key === undefined || !idempotency) return work(await plan?.());
  const { isOnce, to = isOnce, job } = accepted;
  const identity = [...identityOf(account, accepted), to, ...(job ? [job] : [])];
  const request = hashOf([uploads.identify(JSON.stringify(identity))]);
  const until = Date.now() + maxDuration + LEASE_GRACE;
  let reused: Reused | undefined;
  const begun = await idempotency.begin<Kept>(
    { account, key: readKey(key), request, until, ...(plan && { plan }) },
    async (kept) => {
      reused = await reuse(kept);
      return reused !== undefined;
    },
  );
  if ('kept' in begun) return reused!;
  let kept: Kept | undefined;
  try {
    const result = await work(begun.planned);
    kept = keep(result);
    return result;
  } finally {
    // The result exists, so the caller gets it even if it could not be kept.
    await begun.end(kept).catch((thrown: unknown) => {
      log('idempotency key not recorded', { cause: describe(thrown) }, 'error');
    });
  }
}

/** Reads the value of the header, with or without the quotes of a structured field. */
function readKey(value: string): string {
  const key = /^"(.*)"$/.exec(value)?.[1] ?? value;
  if (/^\P{Cc}{1,255}$/u.test(key)) return key;
  throw new ConversionError('BAD_PARAMETER', `${IDEMPOTENCY_KEY} must have 1 to 255 printable characters.`, {
    parameter: IDEMPOTENCY_KEY,
  });
}

/**
 * Returns headers that let browsers and CloudFront cache the file of a signed link, for as long as both `_cache` and
 * the link allow. Other responses contain URLs that expire, or belong to the holder of a key.
 */
export function cacheHeaders(
  { response, cache: seconds = 0 }: ConversionRequest,
  { created = Date.now(), linkExpiry = 0 }: { created?: number | undefined; linkExpiry?: number | undefined },
): Readonly<Record<string, string>> {
  const now = Date.now();
  const left = Math.floor(Math.min(created + 1000 * seconds - now, 1000 * linkExpiry - now) / 1000);
  return response === 'file' && left > 0 ? { 'Cache-Control': `public, max-age=${left}` } : {};
}

/**
 * Returns everything that the result depends on, but not how it is returned or how long it may be kept. A signature of AWS
 * in a URL is left out, because a caller who repeats a request signs again, as the URLs of samples are.
 */
function identityOf(
  account: string,
  { tool, source, format, outputName, options }: ConversionRequest,
): unknown[] {
  const unsigned = (url: string) =>
    /[?&]X-Amz-Signature=/.test(url) ? url.replaceAll(/([?&])X-Amz-[\w-]+=[^&#]*/g, '$1') : url;
  const own = replaceSources(tool, options, unsigned);
  return [account, tool.name, unsigned(source), format, outputName, own];
}

/** Returns a hash of a JSON value, which is kept for a waiting request in place of the value. */
export function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

/** Runs `work`, or joins an unfinished run with the same identity. */
export type Coalesce = <Result>(
  identity: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
) => Promise<Result>;

interface Run {
  readonly result: Promise<unknown>;
  readonly abort: AbortController;
  callers: number;
}

/**
 * Lets identical concurrent requests share one conversion, which is aborted when the last of its callers disconnects.
 * Rejects with `OVERLOADED` if `maxCallers` are already waiting for it. They take no place in the queue, but each
 * holds a connection.
 */
export function createCoalescer({ maxCallers = Number.POSITIVE_INFINITY } = {}): Coalesce {
  const running = new Map<string, Run>();

  const start = (identity: string, work: (signal: AbortSignal) => Promise<unknown>): Run => {
    const abort = new AbortController();
    const result = work(abort.signal).finally(() => {
      if (running.get(identity) === run) running.delete(identity);
    });
    const run: Run = { result, abort, callers: 0 };
    running.set(identity, run);
    return run;
  };

  return async <Result>(
    identity: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> => {
    if (signal.aborted) throw abortError(signal);
    const run = running.get(identity) ?? start(identity, work);
    if (run.callers >= maxCallers) throw tooManyCallersError(run.callers);
    run.callers += 1;
    const leave = () => {
      run.callers -= 1;
      if (run.callers > 0) return;
      // A run that is being aborted cannot be joined.
      running.delete(identity);
      run.abort.abort(signal.reason);
    };
    signal.addEventListener('abort', leave, { once: true });
    try {
      return (await untilAborted(signal, run.result)) as Result;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  };
}

function tooManyCallersError(callers: number): ConversionError {
  const message = `${callers} identical requests are already in progress. Retry in 5 seconds.`;
  return new ConversionError('OVERLOADED', message, { details: { share: callers } });
}
