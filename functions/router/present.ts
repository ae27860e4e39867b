import { Readable } from 'node:stream';
import type { InvocationResult } from '../platform/invoke/invoke.ts';
import type { Storage } from '../platform/storage.ts';
import { ConversionError, ERRORS } from '../shared/errors.ts';
import { namesWithoutEffect } from '../shared/options/read-options.ts';
import { contentTypeOf } from '../shared/output-name.ts';
import type { Contact } from '../shared/settings/service.ts';
import { JSON_PATH } from './http.ts';
import {
  detailHeaders,
  errorReply,
  type HttpReply,
  jsonReply,
  keyReply,
  outputReply,
  unauthorizedReply,
  withHeaders,
} from './reply.ts';
import type { ConversionRequest } from './request.ts';

type ConversionToPresent = Extract<InvocationResult, { readonly ok: true }>;

/** Access to the stored results. The signal aborts reading one. */
interface Stored {
  readonly account: string;
  readonly storage: Storage;
  readonly signal: AbortSignal;
}

/** The format of the responses to one request. */
export interface Presentation {
  output(request: ConversionRequest, result: ConversionToPresent, stored: Stored): Promise<HttpReply>;
  error(error: ConversionError): HttpReply;
  /** Returns the response to a missing or invalid key, with the URL of a demo result. */
  key(contact: Contact, demoUrl?: string): HttpReply;
  /** Whether a missing or invalid key has its own status, because the client does not expect text. */
  readonly hasKeyStatus: boolean;
}

interface PresentedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: readonly { readonly name: string; readonly value: string }[];
  header(name: string): string | undefined;
}

/** Returns the response format of a request: text, unless it asks for JSON or has a `_response`. */
export function presentationOf(http: PresentedRequest, requestId: string): Presentation {
  const hasOtherResponse = http.query.some(({ name, value }) => name === '_response' && value !== 'text');
  const hasKeyStatus = http.method !== 'GET' || hasOtherResponse;
  if (http.path === JSON_PATH || acceptsJson(http.header('accept'))) return json(requestId);
  return {
    output: (request, result, stored) =>
      deliverReply(request, result, stored, () => outputReply(request, result, stored.storage)),
    error: errorReply,
    key: (contact, url) => (hasKeyStatus ? unauthorizedReply(contact) : keyReply(contact, url)),
    hasKeyStatus,
  };
}

/** A media range of JSON in an `Accept` header, with its parameters. */
const JSON_RANGE = /(?:^|,)\s*application\/(?:problem\+)?json\s*(?:;([^,]*))?(?=,|$)/gi;

/** Whether a client names JSON. The `*\/*` of other clients and browsers keeps the text. */
function acceptsJson(accept = ''): boolean {
  for (const [, parameters = ''] of accept.matchAll(JSON_RANGE))
    if (!/(^|;)\s*q\s*=\s*0(\.0*)?\s*$/i.test(parameters)) return true;
  return false;
}

/** Sends the result itself, a redirect to it, or its URL, as `_response` says. */
async function deliverReply(
  request: ConversionRequest,
  result: ConversionToPresent,
  { account, storage, signal }: Stored,
  withUrls: () => Promise<HttpReply>,
): Promise<HttpReply> {
  if (request.response === 'text') return withUrls();
  const objectKey = result.objectKeys[0] ?? '';
  const headers = detailHeaders(request, result);
  if (request.response === 'file' && storage.open) {
    const opened = await storage.open(objectKey, signal);
    if (opened) {
      const { content, ...file } = opened;
      const sent = request.isOnce ? Readable.from(removeOnceSent()) : content;
      return { status: 200, headers: { ...headers, ...file.headers }, body: '', content: sent };

      async function* removeOnceSent() {
        yield* content;
        await storage.remove({ account, objectKey });
      }
    }
  }
  const url = await storage.url(objectKey);
  if (request.response === 'file' && !storage.open) return { status: 200, headers, body: '', file: url };
  return { status: 303, headers: { ...headers, Location: url }, body: '' };
}

/** Returns each mistake that an error describes, with its parameter. */
export function problemsOf(error: ConversionError) {
  return (error.issues ?? [error]).map(({ code, message: detail, parameter }) => ({
    code,
    detail,
    ...(parameter !== undefined && { parameter }),
  }));
}

function json(requestId: string): Presentation {
  const error = (thrown: ConversionError): HttpReply => {
    const { code, message, status } = thrown;
    const text = errorReply(thrown);
    const problem = {
      type: 'about:blank',
      title: ERRORS[code].description,
      status,
      detail: message,
      code,
      errors: problemsOf(thrown),
      requestId,
    };
    const { body } = jsonReply(status, problem);
    return { ...withHeaders(text, { 'Content-Type': 'application/problem+json; charset=utf-8' }), body };
  };
  return {
    output: (request, result, stored) =>
      deliverReply(request, result, stored, async () => {
        const { storage } = stored;
        const { objectKeys, stored: files, pageCount, settled, sourceKind, warnings } = result;
        const expires = storage.urlLifetime === undefined ? undefined : expiryAfter(storage.urlLifetime);
        const outputs = objectKeys.map(async (objectKey, index) => ({
          url: await storage.url(objectKey),
          name: objectKey.slice(objectKey.lastIndexOf('/') + 1),
          contentType: contentTypeOf(request),
          ...files?.[index],
          ...(expires !== undefined && { expires }),
        }));
        const reply = jsonReply(200, {
          outputs: await Promise.all(outputs),
          ...(pageCount !== undefined && { pageCount }),
          ...(request.isAuto && { app: request.tool.name }),
          ignored: namesWithoutEffect(request, sourceKind),
          ...(settled !== undefined && { settled }),
          ...(warnings?.length && { warnings }),
          requestId,
        });
        const { 'Content-Type': _, ...others } = detailHeaders(request, result);
        return withHeaders(reply, others);
      }),
    error,
    key: (contact) => {
      const { headers } = unauthorizedReply(contact);
      const message = `Provide a valid API key. To get one, ${contact.canSignUp === false ? 'see' : 'sign up at'} ${contact.accountUrl}. Support: ${contact.supportUrl}.`;
      const reply = error(new ConversionError('INVALID_KEY', message));
      return withHeaders(reply, { 'WWW-Authenticate': headers['WWW-Authenticate'] ?? '' });
    },
    hasKeyStatus: true,
  };
}

function expiryAfter(seconds: number): string {
  return new Date(Date.now() + 1000 * seconds).toISOString();
}
