import type { Readable } from 'node:stream';
import type { S3ServiceException } from '@aws-sdk/client-s3';
import type { ConversionRequest } from '../conversion/request.ts';
import type { StoredResults } from '../platform/invoke.ts';
import type { Storage } from '../platform/storage.ts';
import { ConversionError, isDiskFull } from '../shared/errors.ts';
import { describe, type Log } from '../shared/log.ts';
import { contentTypeOf } from '../shared/output-name.ts';
import { withTimeout } from '../shared/time.ts';
import { type CheckPlace, checkPlaces, type Place, refuseBuckets, targetUrl } from './places.ts';
import type { Prefixes } from './prefixes.ts';

/** Buckets that the service uses with its own credentials, which it gives to no tool. */
export interface Buckets {
  readonly prefixes: Pick<Prefixes, 'of'>;
  readonly client: () => Promise<BucketClient>;
  /** Runs work that a repeated execution must not repeat. */
  readonly step?: <Value>(work: () => Promise<Value>) => Promise<Value>;
}

export interface BucketClient {
  /** Opens an object, or returns a presigned URL from which a tool can download it. */
  open(place: Place, signal: AbortSignal): Promise<Readable | string>;
  /** Copies results of the storage. */
  put(results: readonly MovedResult[], signal: AbortSignal): Promise<void>;
}

export interface MovedResult {
  readonly objectKey: string;
  /** Its URL in the storage. */
  readonly url: string;
  readonly contentType: string;
  readonly place: Place;
}

interface Dependencies {
  readonly buckets?: Buckets | undefined;
  readonly log: Log;
}

interface Caller {
  readonly account: string;
  readonly signal: AbortSignal;
}

/** Maximum milliseconds for reading one object, and for writing all results of a conversion. */
const TIME = 120_000;

/** Returns the check for the caller of a query, who may use no bucket without an API key. */
export async function checkFor(
  { account, kind }: { readonly account: string; readonly kind?: 'signing' | undefined },
  { buckets }: Pick<Dependencies, 'buckets'>,
  query?: ReadonlyArray<{ readonly name: string; readonly value: string }>,
): Promise<CheckPlace> {
  // Other queries need not wait for the table.
  const isUsed = query?.some(({ name, value }) => name === '_to' || value.includes('s3://')) ?? true;
  if (!isUsed || !buckets || kind === 'signing') return refuseBuckets;
  return checkPlaces(await buckets.prefixes.of(account));
}

/**
 * Returns the URL from which a tool can download an object, if the account may still read it. `receive` stores its content.
 * @throws ConversionError `BLOCKED_ADDRESS`, `SOURCE_STATUS`, `SOURCE_UNREACHABLE`, `SOURCE_TIMEOUT`
 */
export async function openObject(
  { url, parameter, ...caller }: Caller & { readonly url: string; readonly parameter: string },
  dependencies: Dependencies,
  receive: (content: Readable) => Promise<string>,
): Promise<string> {
  const place = (await checkFor(caller, dependencies))(url, 'read', parameter);
  return attempt({ ...caller, bucket: place.bucket, parameter }, dependencies, async (client, signal) => {
    const opened = await client.open(place, signal);
    return typeof opened === 'string' ? opened : receive(opened);
  });
}

/**
 * Moves the results of a request to the prefix in `_to`, if there is one and the account may still write there.
 * @throws ConversionError `BLOCKED_ADDRESS`, `TARGET_FAILED`
 */
export async function moveResults(
  request: ConversionRequest,
  result: StoredResults,
  caller: Caller,
  dependencies: Dependencies & { readonly storage: Storage },
): Promise<StoredResults> {
  const { to, outputName } = request;
  if (to === undefined) return result;
  const { account } = caller;
  const { objectKeys, stored } = result;
  const { storage } = dependencies;
  const contentType = contentTypeOf(request);
  try {
    const check = await checkFor(caller, dependencies);
    const moved = objectKeys.map(async (objectKey, index) => {
      const place = check(targetUrl({ to, outputName }, index, stored), 'write', '_to');
      return { objectKey, url: await storage.url(objectKey), contentType, place };
    });
    const results = await Promise.all(moved);
    const { bucket } = results[0]!.place;
    await attempt({ ...caller, bucket }, dependencies, (client, signal) => client.put(results, signal));
    return { ...result, urls: results.map(({ place }) => `s3://${bucket}/${place.key}`) };
  } finally {
    // A result that cannot be deleted now expires soon, like one that is sent once.
    await Promise.all(objectKeys.map((objectKey) => storage.remove({ account, objectKey }).catch(() => {})));
  }
}

/** Uses a bucket with a timeout. @throws ConversionError that names the bucket and the code of S3, and only the log has more */
async function attempt<Value>(
  use: Use,
  { buckets, log }: Dependencies,
  work: (client: BucketClient, signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const { step = (run) => run() } = buckets!;
  const run = async (signal: AbortSignal) => work(await buckets!.client(), signal);
  const code = use.parameter === undefined ? 'TARGET_FAILED' : 'SOURCE_TIMEOUT';
  const late = () => new ConversionError(code, `The bucket '${use.bucket}' was too slow.`);
  const outcome = await step(() =>
    withTimeout(TIME, use.signal, run, late).then(
      (value) => ({ value, error: undefined }),
      (thrown: unknown) => ({ error: bucketError(thrown, use, log).toReport() }),
    ),
  );
  if (outcome.error) throw ConversionError.fromReport(outcome.error);
  return outcome.value;
}

/** Writes have no `parameter`. */
interface Use {
  readonly bucket: string;
  readonly parameter?: string;
  readonly signal: AbortSignal;
}

/** Returns the error for a bucket. @throws what is not about the bucket */
function bucketError(thrown: unknown, { bucket, parameter, signal }: Use, log: Log): ConversionError {
  if (signal.aborted || isDiskFull(thrown)) throw thrown;
  if (thrown instanceof ConversionError) return thrown.about(parameter ?? '_to');
  log('bucket failed', { bucket, cause: describe(thrown) }, 'warn');
  const isWrite = parameter === undefined;
  const { name, $metadata: { httpStatusCode: status } = {} } = thrown as Partial<S3ServiceException>;
  const reason = /^[A-Z]\w{1,60}$/.test(name ?? '') ? name : `status ${status}`;
  const refusal = `refused ${isWrite ? 'the write' : 'the read'}: ${reason}`;
  const code = isWrite ? 'TARGET_FAILED' : status ? 'SOURCE_STATUS' : 'SOURCE_UNREACHABLE';
  const message = `The bucket '${bucket}' ${status ? refusal : 'could not be reached'}.`;
  return new ConversionError(code, message, { parameter });
}
