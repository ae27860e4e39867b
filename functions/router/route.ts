import { randomBytes } from 'node:crypto';
import { ConversionError } from '../shared/errors.ts';
import type { Invoke } from '../shared/invoke/invoke.ts';
import type { Account, Keys } from '../shared/keys/keys.ts';
import { describe, type Log } from '../shared/log.ts';
import type { Given } from '../shared/options/parameters.ts';
import { contentTypeOf } from '../shared/output-name.ts';
import { CDN_LOOP } from '../shared/source/request.ts';
import type { Storage } from '../shared/storage/storage.ts';
import type { Limits, Tool } from '../shared/tool.ts';
import { type Contact, checkAccess } from './access.ts';
import type { Coalesce } from './coalesce.ts';
import { errorReply, type HttpReply, keyReply, outputReply } from './reply.ts';
import { type ConversionRequest, readRequest } from './request.ts';

export interface HttpRequest {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  /** Decoded pairs in the order of the query. */
  readonly query: readonly Given[];
  /** The `CDN-Loop` header: names the services a request came through (RFC 8586). */
  readonly loop?: string | undefined;
}

export interface Dependencies {
  readonly tools: readonly Tool[];
  readonly keys: Keys;
  readonly storage: Storage;
  readonly invoke: Invoke;
  readonly coalesce: Coalesce;
  readonly limits: Limits;
  readonly contact: Contact;
  readonly log: Log;
}

const MINUTE = 60_000;

/** Answers one request: check access, read the request, invoke the tool, write the reply. */
export async function route(
  http: HttpRequest,
  dependencies: Dependencies,
  signal: AbortSignal,
): Promise<HttpReply> {
  const { tools, keys, storage, coalesce, contact, log } = dependencies;
  try {
    checkPath(http);
    const account = await checkAccess(http.query, keys);
    if (!account) return keyReply(contact);

    const request = readRequest(http.query, tools);
    const identity = JSON.stringify([account.tenant, request]);
    const { objectKeys, pageCount, settled } = await coalesce(identity, signal, (shared) =>
      convert(request, account, dependencies, shared),
    );
    const addresses = await Promise.all(objectKeys.map((objectKey) => storage.address(objectKey)));
    return outputReply(addresses, { pageCount, settled, ignored: request.ignored });
  } catch (thrown) {
    const error = ConversionError.from(thrown);
    log('refused', { code: error.code, ...(error.code === 'INTERNAL' && { cause: describe(error) }) });
    return errorReply(error);
  }
}

/** Lets the tool store its results below a prefix of its own, and answers what it stored. */
async function convert(
  { tool, format, outputName, source, options }: ConversionRequest,
  { tenant }: Account,
  { storage, invoke, limits }: Dependencies,
  signal: AbortSignal,
) {
  const deadline = Date.now() + limits.conversionTime;
  // Object keys cannot be guessed: 128 random bits, then the cleaned file name.
  const prefix = `${randomBytes(16).toString('hex')}/`;
  const contentType = contentTypeOf({ format, outputName });
  const expires = deadline + MINUTE;
  const grant = await storage.grant({ prefix, maxBytes: limits.resultBytes, expires, contentType });
  const invocation = {
    tool: tool.name,
    tenant,
    source,
    format,
    outputName,
    options,
    grant,
    limits,
    deadline,
  };
  const result = await invoke(invocation, signal);
  if (!result.ok) throw ConversionError.fromReport(result.error);
  const foreign = result.objectKeys.some((objectKey) => !objectKey.startsWith(prefix));
  if (foreign) throw new Error('A tool named an object outside its grant.');
  return result;
}

function checkPath({ method, path, loop }: HttpRequest): void {
  if (path !== '/api/' && path !== '/api') {
    throw new ConversionError('NOT_FOUND', 'There is nothing here; conversions are at /api/.');
  }
  if (method !== 'GET') throw new ConversionError('METHOD_NOT_ALLOWED', 'The method must be GET.');
  if (loop?.includes(CDN_LOOP))
    throw new ConversionError('BLOCKED_ADDRESS', 'The service does not convert its own answers.');
}
