import { createHash } from 'node:crypto';
import type { ConversionRequest } from '../conversion/request.ts';
import type { InvocationResult } from '../platform/invoke.ts';
import type { ResultCache } from '../platform/result-cache.ts';
import type { Storage } from '../platform/storage.ts';
import { ConversionError } from '../shared/errors.ts';
import { describe, type Log } from '../shared/log.ts';
import { abortError, untilAborted } from '../shared/time.ts';

/** Whether a request with `_cache` used an earlier result, for the header `X-Cache`. */
export type CacheStatus = 'hit' | 'miss';

interface CacheDependencies {
  readonly resultCache?: ResultCache | undefined;
  readonly storage: Pick<Storage, 'exists'>;
  readonly log: Log;
}

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
  { resultCache, storage, log }: CacheDependencies,
  convert: Convert,
): Promise<CachedConversion> {
  const { cache: seconds } = accepted;
  if (seconds === undefined) return { result: await convert() };
  if (!resultCache) return { result: await convert(), cache: 'miss' };
  const failed = (thrown: unknown) => log('result cache failed', { cause: describe(thrown) }, 'error');
  const identity = identityOf(account, accepted);
  const found = await resultCache.get(account, identity).catch(failed);
  const isRecent = found && Date.now() - found.created < 1000 * seconds;
  const stored = isRecent ? found.result.objectKeys.map((objectKey) => storage.exists(objectKey)) : [];
  const isStored = await Promise.all(stored).then(
    (all) => all.every(Boolean),
    (thrown: unknown) => failed(thrown) ?? false,
  );
  const kept = isRecent && isStored ? found : undefined;
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

/** Hashes everything that the result depends on, but not how it is returned or how long it may be kept. */
function identityOf(
  account: string,
  { tool, source, format, outputName, options }: ConversionRequest,
): string {
  return hashOf([account, tool.name, source, format, outputName, options]);
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
