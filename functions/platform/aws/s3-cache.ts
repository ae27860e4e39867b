import { GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { CACHE_PREFIX, type CachedResult, type ResultCache } from '../result-cache.ts';
import { folderOf } from '../storage.ts';

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
