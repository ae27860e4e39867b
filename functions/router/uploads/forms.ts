import type { KeyRecord } from '../../platform/keys.ts';
import {
  createUploadId,
  invalidFormError,
  UPLOAD_LIFETIME,
  type Uploads,
  uploadKeyOf,
} from '../../platform/storage.ts';
import { ConversionError } from '../../shared/errors.ts';
import { isSentFile, type Parameter } from '../../shared/options/option.ts';
import { repeatedError } from '../../shared/options/read-options.ts';
import { quote } from '../../shared/quote.ts';
import type { ConversionLimits } from '../../shared/tool.ts';
import { type HttpReply, jsonReply } from '../reply.ts';
import type { Body } from './body.ts';
import { isFile } from './multipart.ts';

interface Dependencies {
  readonly uploads?: Uploads | undefined;
  readonly limits: Pick<ConversionLimits, 'sourceBytes'>;
  readonly isDisabled?: (account: string) => Promise<boolean>;
}

/** Whether a request sends a form that the service issued. */
export function isForm(parameters: readonly Parameter[]): boolean {
  return parameters.some(({ name }) => name === 'policy');
}

/**
 * Returns a form for one file, and the `infile` value that refers to it afterwards.
 * @throws ConversionError for other parameters, and for a file
 */
export async function issueForm(
  { query, body }: { readonly query: readonly Parameter[]; readonly body: Body | undefined },
  { account }: KeyRecord,
  { uploads, limits }: Dependencies,
): Promise<HttpReply> {
  const unknown = query.find(({ name }) => name !== 'name' && name !== 'apikey');
  if (unknown) {
    const message = `Unknown parameter ${quote(unknown.name)}. The only parameter of an upload is 'name'.`;
    throw new ConversionError('UNKNOWN_PARAMETER', message, { parameter: unknown.name });
  }
  const names = query.filter(({ name }) => name === 'name');
  if (names.length > 1) throw repeatedError(names);
  if (body && (await hasFile(body))) {
    throw new ConversionError(
      'BAD_PARAMETER',
      'A request for an upload form cannot contain a file. Send the fields of the form first, and the file last.',
    );
  }
  const id = createUploadId(names[0]?.value ?? '');
  const target = { objectKey: uploadKeyOf(account, id), account, maxBytes: limits.sourceBytes };
  const form = await uploads!.form(target);
  const expires = new Date(Date.now() + UPLOAD_LIFETIME).toISOString();
  return jsonReply(200, { infile: `upload:${id}`, ...form, maxBytes: target.maxBytes, expires });
}

/**
 * Deletes the upload that `infile` names. One that has already been deleted is not an error.
 * @throws ConversionError `MISSING_PARAMETER`
 */
export async function deleteUpload(
  query: readonly Parameter[],
  { account }: KeyRecord,
  { uploads }: Dependencies,
): Promise<HttpReply> {
  const value = query.find(({ name }) => name === 'infile')?.value ?? '';
  if (!value.startsWith('upload:') || !isSentFile(value))
    throw new ConversionError('MISSING_PARAMETER', "Parameter 'infile' must be that of an upload.", {
      parameter: 'infile',
    });
  await uploads!.remove({ account, objectKey: uploadKeyOf(account, value.slice('upload:'.length)) });
  return { status: 204, headers: { 'Cache-Control': 'no-store' }, body: '' };
}

/** Whether a body has a file, or content that is not a form. */
async function hasFile({ rest, isSource }: Body): Promise<boolean> {
  for await (const part of rest) {
    if (!isSource || !isFile(part)) return true;
    for await (const chunk of part.content as AsyncIterable<Buffer>) if (chunk.length > 0) return true;
  }
  return false;
}

/** Stores the file of a form. @throws ConversionError for an invalid form, and the errors of `Uploads.receive`. */
export async function receiveForm(
  { parameters, rest }: Body,
  { uploads, isDisabled }: Dependencies,
  signal: AbortSignal,
): Promise<HttpReply> {
  const target = uploads?.readForm?.(new Map(parameters.map(({ name, value }) => [name, value])));
  if (target && (await isDisabled?.(target.account))) throw invalidFormError();
  for await (const part of rest) {
    if (!target || !isFile(part) || part.name !== 'file') break;
    await uploads!.receive({ ...target, content: part.content }, signal);
    return { status: 204, headers: {}, body: '' };
  }
  const message = "The form must end with a file named 'file'.";
  throw new ConversionError('MISSING_PARAMETER', message, { parameter: 'file' });
}
