import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import * as http from 'node:http';
import * as https from 'node:https';
import type { LookupFunction } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { create as createDisposition } from 'content-disposition';
import { ConversionError, resultTooLargeError } from '../../shared/errors.ts';
import { dispositionOf } from '../../shared/formats.ts';
import type { Grant, Put } from '../storage.ts';

/** Timeout for silence in both directions, in milliseconds. Then the connection counts as lost. */
const SILENCE = 20_000;

/** A server's response to an upload, with the start of its body. */
export interface StorageResponse {
  readonly status: number;
  readonly text: string;
}

interface UploadedFile {
  readonly path: string;
  readonly bytes: number;
}

const ATTEMPTS = 3;

/**
 * Uploads a file, with up to three attempts, until the server stores or refuses it. Returns the last response.
 * Retrying is safe, because the same file is stored in the same place. @throws the error of the last connection, or
 * the reason of the signal.
 */
export async function retryUpload(
  upload: () => Promise<StorageResponse>,
  signal: AbortSignal,
): Promise<StorageResponse> {
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await upload();
      if (response.status < 500 || attempt === ATTEMPTS) return response;
    } catch (thrown) {
      signal.throwIfAborted();
      // A forbidden URL will not become allowed.
      if (attempt === ATTEMPTS || thrown instanceof ConversionError) throw thrown;
    }
    await setTimeout(100 * attempt, undefined, { signal });
  }
}

/**
 * Posts fields and one file as multipart/form-data, reading the file from disk as it is sent. `lookup` resolves the
 * host (default: DNS). `fetch` with a form is not used, because if the server refuses early, its body stream rejects
 * where nothing can catch it.
 */
export function postForm(
  url: string,
  fields: Readonly<Record<string, string>>,
  file: UploadedFile,
  signal: AbortSignal,
  lookup?: LookupFunction,
): Promise<StorageResponse> {
  const boundary = `docmill-${randomBytes(16).toString('hex')}`;
  const parts = Object.entries(fields).map(([name, value]) => part(boundary, `name="${name}"`, value));
  // S3 ignores fields after the file, so the file is last.
  const head = Buffer.from(parts.join('') + part(boundary, 'name="file"; filename="file"'));
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const headers = {
    'content-type': `multipart/form-data; boundary=${boundary}`,
    'content-length': head.length + file.bytes + tail.length,
  };
  const body = async function* () {
    yield head;
    yield* createReadStream(file.path);
    yield tail;
  };
  return send(url, { method: 'POST', headers, signal, ...(lookup && { lookup }) }, body);
}

/** Puts one file to a presigned URL, reading it from disk as it is sent. */
export function putFile(
  url: string,
  file: UploadedFile & { readonly contentType: string },
  signal: AbortSignal,
  lookup?: LookupFunction,
): Promise<StorageResponse> {
  const headers = { 'content-type': file.contentType, 'content-length': file.bytes };
  return send(url, { method: 'PUT', headers, signal, ...(lookup && { lookup }) }, () =>
    createReadStream(file.path),
  );
}

async function send(
  url: string,
  options: http.RequestOptions & { readonly signal: AbortSignal },
  body: () => AsyncIterable<Buffer>,
): Promise<StorageResponse> {
  const { request } = url.startsWith('https:') ? https : http;
  // A pooled connection may have been resolved by another lookup.
  const pooling = options.lookup ? { agent: false as const } : {};
  const sending = request(url, { ...options, ...pooling, timeout: SILENCE });
  sending.on('timeout', () => sending.destroy(new Error(`No response from the storage for ${SILENCE} ms.`)));
  const replied = new Promise<StorageResponse>((resolve, reject) => {
    sending.on('error', reject);
    sending.on('response', (response) => {
      startOf(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
    });
  });
  const sent = pipeline(body, sending);
  // The server may respond and close the connection before everything is sent. Then its response counts, not the
  // broken pipe.
  sent.catch(() => {});
  return await replied;
}

function part(boundary: string, disposition: string, value?: string): string {
  const head = `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n`;
  if (value === undefined) return `${head}Content-Type: application/octet-stream\r\n\r\n`;
  return `${head}\r\n${value}\r\n`;
}

async function startOf(response: http.IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) if (text.length < 4000) text += chunk;
  return text;
}

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
