import {
  DeleteObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
  type S3ServiceException,
} from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { emptySourceError, sourceTooLargeError } from '../../shared/errors.ts';
import { UPLOAD_LIFETIME, type Uploads } from '../uploads.ts';

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
