import { readFile } from 'node:fs/promises';
import type { EgressGuard } from '../../../../shared/egress/guard.ts';
import { ConversionError, type ErrorCode, megabytes } from '../../../../shared/errors.ts';
import { MAX_INLINE_BYTES } from '../../../../shared/settings/aws.ts';
import type { StoredFile } from '../../../storage.ts';
import { postForm, putFile, retryUpload, type StorageResponse } from '../../post-form.ts';
import { FILE_NAME, type ToolOutput, type Upload } from './event.ts';

/** Takes the outputs of one direct invocation, one after another. */
export interface Receiver {
  readonly outputs: readonly ToolOutput[];
  /**
   * Uploads a file, or reads it into the response.
   * @throws ConversionError `RESULT_TOO_LARGE` if a file fits into neither, `BAD_PARAMETER` if the upload is rejected.
   */
  receive(file: StoredFile, signal: AbortSignal): Promise<void>;
}

/** Creates the receiver of one invocation. Uploads go through the egress guard, like every other connection. */
export function createReceiver(upload: Upload | undefined, egress: EgressGuard, account: string): Receiver {
  const outputs: ToolOutput[] = [];
  let inlineBytes = 0;

  async function content(file: StoredFile, signal: AbortSignal): Promise<Pick<ToolOutput, 'base64'>> {
    if (upload) {
      await send(upload, file, { egress, account, signal });
      return {};
    }
    inlineBytes += file.bytes;
    if (inlineBytes > MAX_INLINE_BYTES) throw responseTooLargeError();
    return { base64: await readFile(file.path, 'base64') };
  }

  return {
    outputs,
    async receive(file, signal) {
      const { name, contentType, bytes, page } = file;
      const received = await content(file, signal);
      outputs.push({ name, contentType, bytes, ...(page === undefined ? {} : { page }), ...received });
    },
  };
}

interface UploadContext {
  readonly egress: EgressGuard;
  readonly account: string;
  readonly signal: AbortSignal;
}

async function send(
  { url, fields }: Upload,
  file: StoredFile,
  { egress, account, signal }: UploadContext,
): Promise<void> {
  const upload = async () => {
    const { lookup } = await egress.check(url, { account, signal });
    return fields
      ? postForm(url, { ...fields, key: keyOf(fields, file) }, file, signal, lookup)
      : putFile(url, file, signal, lookup);
  };
  const response = await retryUpload(upload, signal).catch((cause: unknown) => {
    signal.throwIfAborted();
    if (cause instanceof ConversionError) throw uploadError(cause.code, cause.message, cause);
    throw uploadError('BAD_PARAMETER', 'The server could not be reached or closed the connection.', cause);
  });
  if (!isStored(response, fields)) throw refusedError(response);
}

/** Whether the server has stored the file. S3 sends 303 if the form has the field `success_action_redirect`. */
function isStored({ status }: StorageResponse, fields: Upload['fields']): boolean {
  return (status >= 200 && status < 300) || (status === 303 && fields?.success_action_redirect !== undefined);
}

/** Returns the form's key with the file name filled in, as S3 would do. */
function keyOf({ key = '' }: Readonly<Record<string, string>>, { name }: StoredFile): string {
  return key.replaceAll(FILE_NAME, () => name);
}

function refusedError({ status, text }: StorageResponse): ConversionError {
  const code = /<Code>(\w{1,60})<\/Code>/.exec(text)?.[1];
  if (code === 'EntityTooLarge') {
    return uploadError('RESULT_TOO_LARGE', 'The result exceeds the size that the form allows.');
  }
  const reason = code === undefined ? '' : ` (${code})`;
  return uploadError('BAD_PARAMETER', `The server refused the file with status ${status}${reason}.`);
}

function uploadError(code: ErrorCode, message: string, cause?: unknown): ConversionError {
  return new ConversionError(code, `Field 'upload': ${message}`, { cause, parameter: 'upload' });
}

function responseTooLargeError(): ConversionError {
  return new ConversionError(
    'RESULT_TOO_LARGE',
    `The result is larger than the ${megabytes(MAX_INLINE_BYTES)} that fit into a response. Pass 'upload' with a presigned POST form or PUT URL.`,
  );
}
