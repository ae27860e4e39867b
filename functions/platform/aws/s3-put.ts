import { create as createDisposition } from 'content-disposition';
import { resultTooLargeError } from '../../shared/errors.ts';
import { dispositionOf } from '../../shared/formats.ts';
import type { Grant, Put } from '../storage.ts';
import { postForm, retryUpload } from './post-form.ts';

interface PostGrant extends Grant {
  readonly fields: Readonly<Record<string, string>>;
  readonly prefix: string;
  /** Maximum bytes that the form allows. */
  readonly maxBytes: number;
}

/**
 * Stores files in the bucket at `url` with presigned POST forms, streamed from disk, which needs neither the SDK nor
 * credentials. The URL is not part of a grant, so that no event can name a different one.
 */
export const createS3Put =
  (url: string): Put =>
  async (grant, file, signal) => {
    const { fields, prefix, maxBytes } = grant as PostGrant;
    const objectKey = prefix + file.name;
    const form = {
      ...fields,
      key: objectKey,
      'Content-Type': file.contentType,
      'Content-Disposition': createDisposition(file.name, { type: dispositionOf(file.contentType) }),
    };

    const reply = await retryUpload(() => postForm(url, form, file, signal), signal).catch(
      (cause: unknown) => {
        signal.throwIfAborted();
        throw new Error('The storage could not be reached.', { cause });
      },
    );
    if (reply.status >= 300) throw storageError(reply, maxBytes);
    return objectKey;
  };

function storageError({ status, text }: { status: number; text: string }, maxBytes: number): Error {
  const code = /<Code>(\w{1,60})<\/Code>/.exec(text)?.[1];
  if (code === 'EntityTooLarge') {
    return resultTooLargeError(maxBytes);
  }
  return new Error(`The storage rejected a result: ${status} ${code ?? 'without a code'}.`);
}
