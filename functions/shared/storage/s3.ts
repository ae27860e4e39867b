import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { Storage } from './storage.ts';

/** Stores in a bucket: grants are presigned POST forms, addresses presigned GETs; both are signed without a call. */
export function createS3Storage({
  client,
  bucket,
  urlLifetime,
}: {
  client: S3Client;
  bucket: string;
  /** Seconds an address lives; it dies earlier if the credentials that signed it do. */
  urlLifetime: number;
}): Storage {
  return {
    async grant({ prefix, maxBytes, expires, contentType }) {
      const form = await createPresignedPost(client, {
        Bucket: bucket,
        // The form's holder may fill in the rest of the name, so the policy says: the key starts with the prefix.
        Key: `${prefix}\${filename}`,
        Conditions: [
          ['content-length-range', 1, maxBytes],
          ['eq', '$Content-Type', contentType],
          ['starts-with', '$Content-Disposition', 'inline; filename'],
        ],
        Expires: Math.ceil((expires - Date.now()) / 1000),
      });
      // The holder fills in the key; the bucket stands in the address, where the policy's condition looks for it.
      const { key: _key, bucket: _bucket, ...fields } = form.fields;
      return { url: form.url, fields, prefix };
    },
    url: (objectKey) =>
      getSignedUrl(client, new GetObjectCommand({ Bucket: bucket, Key: objectKey }), {
        expiresIn: urlLifetime,
      }),
  };
}
