import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { HOUR } from '../../shared/dates.ts';
import type { Storage } from '../storage.ts';

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
    const objectKey = `samples/${name}`;
    if ((stored.get(name) ?? 0) < Date.now() - SAMPLE_LIFETIME) {
      const type = name.endsWith('.html') ? 'text/html; charset=utf-8' : 'application/octet-stream';
      const Body = await readFile(join(folder, name));
      await client.send(new PutObjectCommand({ Bucket: bucket, Key: objectKey, Body, ContentType: type }));
      stored.set(name, Date.now());
    }
    return storage.url(objectKey);
  };
}
