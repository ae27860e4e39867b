import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { GetObjectCommand, PutObjectCommand, S3Client, type S3ServiceException } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { createFairQueue } from '../shared/fair-queue.ts';
import type { BucketClient, MovedResult } from './buckets.ts';
import type { Place } from './places.ts';

interface Opened {
  readonly content: Readable;
  /** S3 must know the size of what it stores in advance. */
  readonly bytes: number;
}

/** Seconds that a tool has to start its download. */
const URL_LIFETIME = 900;
/** Attempts to write a result. The SDK does not retry a streamed body. */
const ATTEMPTS = 3;
/** Concurrent writes, in total and of one conversion. */
const WRITES = { total: 32, perAccount: 8 };

const at = ({ bucket, key }: Place) => ({ Bucket: bucket, Key: key });

/** Uses buckets on AWS. Tools download from presigned URLs. */
export function createAwsClient(client: S3Client, resultsBucket: string): BucketClient {
  return {
    async open(place, signal) {
      // Reports why S3 refuses it, which a tool could not.
      (await get(client, place, signal)).content.destroy();
      return getSignedUrl(client, new GetObjectCommand(at(place)), { expiresIn: URL_LIFETIME });
    },
    put: putting(client, ({ objectKey }, signal) =>
      get(client, { bucket: resultsBucket, key: objectKey }, signal),
    ),
  };
}

/**
 * Uses buckets of any S3-compatible service from this process, so that nothing else connects to it. The SDK reads its endpoint and
 * credentials from the environment. `pathOf` returns the path of the result at a URL.
 */
export function createLocalClient(pathOf: (url: string) => Promise<string>): BucketClient {
  const ignore = () => {};
  const client = new S3Client({
    forcePathStyle: true,
    // Not every S3-compatible service knows the checksums of AWS.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: 5000, socketTimeout: 20_000 },
    // By default, it writes to the console. The service logs its errors.
    logger: { debug: ignore, info: ignore, warn: ignore, error: ignore },
  });
  return {
    async open(place, signal) {
      // Opened on the first read, because it may have to wait for other uploads.
      const read = async function* () {
        yield* (await get(client, place, signal)).content;
      };
      return Readable.from(read(), { objectMode: false });
    },
    put: putting(client, async ({ url }) => {
      const path = await pathOf(url);
      // After an abort, the result may be deleted before it is opened.
      return { bytes: (await stat(path)).size, content: createReadStream(path).on('error', ignore) };
    }),
  };
}

async function get(client: S3Client, place: Place, abortSignal: AbortSignal): Promise<Opened> {
  const { Body, ContentLength } = await client.send(new GetObjectCommand(at(place)), { abortSignal });
  return { content: Body as Readable, bytes: ContentLength! };
}

function putting(
  client: S3Client,
  openResult: (result: MovedResult, signal: AbortSignal) => Promise<Opened>,
): BucketClient['put'] {
  const writes = createFairQueue(WRITES);
  const put = async (result: MovedResult, signal: AbortSignal) => {
    for (let attempt = 1; ; attempt++) {
      const { content: Body, bytes: ContentLength } = await openResult(result, signal);
      const object = { ...at(result.place), Body, ContentLength, ContentType: result.contentType };
      try {
        await client.send(new PutObjectCommand(object), { abortSignal: signal });
        return;
      } catch (thrown) {
        Body.destroy();
        const { httpStatusCode: status = 500 } = (thrown as Partial<S3ServiceException>).$metadata ?? {};
        if (attempt === ATTEMPTS || signal.aborted || status < 500) throw thrown;
      }
      await setTimeout(100 * attempt, undefined, { signal });
    }
  };
  return async (results, signal) => {
    const isOver = new AbortController();
    const written = results.map((result) =>
      writes.run(results[0]!.objectKey, () => put(result, signal), isOver.signal),
    );
    await Promise.all(written).finally(() => isOver.abort());
  };
}
