import type { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  type S3Client,
  type S3ServiceException,
} from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { dispositionOf } from '../../shared/formats.ts';
import type { Storage } from '../storage.ts';

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
