import { openAsBlob } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { ConversionError } from '../errors.ts';
import type { Grant, Put, StoredFile } from './storage.ts';

interface PostGrant extends Grant {
  readonly url: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly prefix: string;
}

const ATTEMPTS = 3;

/** Stores a file through a presigned POST form: no SDK and no credentials, streamed from disk with its length known. */
export const putToS3: Put = async (grant, file, signal) => {
  const { url, fields, prefix } = grant as PostGrant;
  const objectKey = prefix + file.name;

  for (let attempt = 1; ; attempt++) {
    const body = await form({ ...fields, key: objectKey }, file);
    const response = await fetch(url, { method: 'POST', body, signal, redirect: 'error' }).catch((cause) => {
      signal.throwIfAborted();
      if (attempt === ATTEMPTS) throw new Error('The storage could not be reached.', { cause });
    });
    if (response?.ok) return objectKey;
    // The same name under the same grant: storing it twice does no harm.
    if (response && (response.status < 500 || attempt === ATTEMPTS)) throw await refusal(response);
    await setTimeout(100 * attempt, undefined, { signal });
  }
};

async function form(fields: Record<string, string>, file: StoredFile): Promise<FormData> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  body.append('Content-Type', file.contentType);
  body.append('Content-Disposition', disposition(file.name));
  // Fields after the file are ignored, so it comes last.
  body.append('file', await openAsBlob(file.path, { type: file.contentType }), file.name);
  return body;
}

/** Writes the header that names a download: plain for old clients, and in RFC 8187 form where letters need it. */
export function disposition(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\]/g, '_');
  const extended = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
  return `inline; filename="${plain}"${plain === name ? '' : `; filename*=UTF-8''${extended}`}`;
}

async function refusal(response: Response): Promise<Error> {
  const text = (await response.text()).slice(0, 2000);
  const code = /<Code>(\w{1,60})<\/Code>/.exec(text)?.[1];
  if (code === 'EntityTooLarge') {
    return new ConversionError('RESULT_TOO_LARGE', 'The result is larger than a result may be.');
  }
  return new Error(`The storage refused a result: ${response.status} ${code ?? 'without a code'}.`);
}
