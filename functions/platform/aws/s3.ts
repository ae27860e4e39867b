import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  type S3Client,
  type S3ServiceException,
} from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { emptySourceError, sourceTooLargeError } from '../../shared/errors.ts';
import { dispositionOf } from '../../shared/formats.ts';
import { HOUR } from '../../shared/time.ts';
import { CACHE_PREFIX, type CachedResult, type ResultCache } from '../result-cache.ts';
import {
  folderOf,
  isOwner,
  SAMPLE_PREFIX,
  type Storage,
  UPLOAD_LIFETIME,
  UPLOAD_PREFIX,
  type Uploads,
} from '../storage.ts';

/**
 * Maximum bytes of a result that a function streams. Lambda is fast for the first 6 MB of a response, then sends 2 MB a
 * second, and ends it at 200 MB: https://docs.aws.amazon.com/lambda/latest/dg/configuration-response-streaming.html
 */
const MAX_STREAMED = 6 * 2 ** 20;

/**
 * Stores objects in a bucket. Grants are presigned POST forms and URLs are presigned GETs, so neither needs a request
 * to AWS.
 */
export function createS3Storage({
  client,
  bucket,
  urlLifetime,
}: {
  client: S3Client;
  bucket: string;
  /** Lifetime of a URL in seconds. It is shorter if the credentials that signed it expire earlier. */
  urlLifetime: number;
}): Storage {
  return {
    urlLifetime,
    async grant({ prefix, maxBytes, lifetime, contentType }) {
      const form = await createPresignedPost(client, {
        Bucket: bucket,
        // The tool fills in the file name, so the policy requires only that the key starts with the prefix.
        Key: `${prefix}\${filename}`,
        Conditions: [
          ['content-length-range', 1, maxBytes],
          ['eq', '$Content-Type', contentType],
          ['starts-with', '$Content-Disposition', `${dispositionOf(contentType)}; filename`],
        ],
        Expires: Math.ceil(lifetime / 1000),
      });
      // The tool fills in the key, and knows the URL, which contains the bucket.
      const { key: _key, bucket: _bucket, ...fields } = form.fields;
      return { fields, prefix, maxBytes };
    },
    url: (objectKey) =>
      getSignedUrl(client, new GetObjectCommand({ Bucket: bucket, Key: objectKey }), {
        expiresIn: urlLifetime,
      }),
    async exists(objectKey) {
      try {
        await client.send(new HeadObjectCommand({ Bucket: bucket, Key: objectKey }));
        return true;
      } catch (thrown) {
        // Without permission to list the bucket, S3 returns 403 for missing objects.
        const status = (thrown as S3ServiceException).$metadata?.httpStatusCode;
        if (status === 404 || status === 403) return false;
        throw thrown;
      }
    },
    async remove({ objectKey }) {
      await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: objectKey }));
    },
    async open(objectKey, signal) {
      const command = new GetObjectCommand({ Bucket: bucket, Key: objectKey });
      const stored = await client.send(command, { abortSignal: signal });
      const content = stored.Body as Readable;
      if ((stored.ContentLength ?? 0) > MAX_STREAMED) {
        content.destroy();
        return undefined;
      }
      const headers = {
        'Content-Type': stored.ContentType,
        'Content-Length': stored.ContentLength?.toString(),
        'Content-Disposition': stored.ContentDisposition,
      };
      const known = Object.entries(headers).filter(([, value]) => value !== undefined);
      return {
        headers: Object.fromEntries(known) as Record<string, string>,
        content,
      };
    },
  };
}

/** Deletes all results, uploads and cached results of an account. Lists the whole bucket. */
export async function removeObjectsOf(
  account: string,
  { client, bucket }: { client: S3Client; bucket: string },
): Promise<void> {
  const folders = [UPLOAD_PREFIX, CACHE_PREFIX].map((prefix) => `${prefix}${folderOf(account)}/`);
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket: bucket }))
    for (const { Key = '' } of Contents) {
      const prefix = /^(?:once\/)?([^/]+\/)/.exec(Key)?.[1] ?? '';
      if (isOwner(account, prefix) || folders.some((folder) => Key.startsWith(folder)))
        await client.send(new DeleteObjectCommand({ Bucket: bucket, Key }));
    }
}

/** The media type of all uploads, so that no browser displays one as a page. */
const CONTENT_TYPE = 'application/octet-stream';

/**
 * Stores uploads in a bucket. Files in a request are part of the router's event, which Lambda limits to 6 MB, so they
 * are already in memory. Forms are presigned POST forms, which S3 itself receives.
 */
export function createS3Uploads({ client, bucket }: { client: S3Client; bucket: string }): Uploads {
  const at = (objectKey: string) => ({ Bucket: bucket, Key: objectKey });
  return {
    async receive({ objectKey, maxBytes, content }, signal) {
      const chunks: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of content as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > maxBytes) throw sourceTooLargeError(maxBytes);
        chunks.push(chunk);
      }
      if (bytes === 0) throw emptySourceError();
      const command = new PutObjectCommand({
        ...at(objectKey),
        Body: Buffer.concat(chunks),
        ContentType: CONTENT_TYPE,
      });
      await client.send(command, { abortSignal: signal });
      return bytes;
    },

    async form({ objectKey, maxBytes }) {
      const { url, fields } = await createPresignedPost(client, {
        ...at(objectKey),
        Fields: { 'Content-Type': CONTENT_TYPE },
        Conditions: [['content-length-range', 1, maxBytes]],
        Expires: UPLOAD_LIFETIME / 1000,
      });
      return { url, fields };
    },

    async exists(objectKey) {
      try {
        const { LastModified } = await client.send(new HeadObjectCommand(at(objectKey)));
        // Checked here, because the bucket's rule counts in days and deletes it later.
        return Date.now() - (LastModified?.getTime() ?? 0) <= UPLOAD_LIFETIME;
      } catch (thrown) {
        // Without permission to list the bucket, S3 returns 403 for missing objects.
        const { $metadata } = thrown as S3ServiceException;
        if ([403, 404].includes($metadata?.httpStatusCode ?? 0)) return false;
        throw thrown;
      }
    },

    async remove({ objectKey }) {
      await client.send(new DeleteObjectCommand(at(objectKey)));
    },
  };
}

/** Keeps results as small objects beside the result files, with which they are deleted. */
export function createS3Cache({ client, bucket }: { client: S3Client; bucket: string }): ResultCache {
  const at = (account: string, identity: string) => ({
    Bucket: bucket,
    Key: `${CACHE_PREFIX}${folderOf(account)}/${identity}`,
  });
  return {
    async get(account, identity) {
      try {
        const { Body } = await client.send(new GetObjectCommand(at(account, identity)));
        return JSON.parse((await Body?.transformToString()) ?? '') as CachedResult;
      } catch (thrown) {
        // Without permission to list the bucket, S3 returns 403 for missing objects.
        if (['NoSuchKey', 'AccessDenied'].includes((thrown as Error).name)) return undefined;
        throw thrown;
      }
    },

    async put(account, identity, cached) {
      const content = { Body: JSON.stringify(cached), ContentType: 'application/json' };
      await client.send(new PutObjectCommand({ ...at(account, identity), ...content }));
    },
  };
}

/**
 * How long a sample is used before it is stored again, in milliseconds. The bucket deletes it after a day or more.
 */
const SAMPLE_LIFETIME = 12 * HOUR;

/** Returns a function that stores a bundled source of a folder in the bucket, and returns a URL for tools to download it. */
export function createS3Samples(
  { client, bucket }: { client: S3Client; bucket: string },
  storage: Pick<Storage, 'url'>,
  folder: string,
): (name: string) => Promise<string> {
  const stored = new Map<string, number>();
  return async (name) => {
    const objectKey = `${SAMPLE_PREFIX}${name}`;
    if ((stored.get(name) ?? 0) < Date.now() - SAMPLE_LIFETIME) {
      const type = name.endsWith('.html') ? 'text/html; charset=utf-8' : 'application/octet-stream';
      const Body = await readFile(join(folder, name));
      await client.send(new PutObjectCommand({ Bucket: bucket, Key: objectKey, Body, ContentType: type }));
      stored.set(name, Date.now());
    }
    return storage.url(objectKey);
  };
}
