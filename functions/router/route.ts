import type { KeyFinder, KeyRecord } from '../platform/keys/keys.ts';
import type { Storage } from '../platform/storage.ts';
import type { Usage } from '../platform/usage/usage.ts';
import { type AfterReply, beforeReply } from '../shared/conversion/after-reply.ts';
import { ConversionError } from '../shared/errors.ts';
import { describe, type Log } from '../shared/log.ts';
import type { Given } from '../shared/options/parameters.ts';
import { CDN_LOOP } from '../shared/source/request.ts';
import type { Tool } from '../shared/tool.ts';
import { authenticate, type Contact } from './accounts/access.ts';
import { convertDemo, type DemoDependencies } from './accounts/demo.ts';
import { admit, type LimitDependencies } from './accounts/limit.ts';
import { readUsage } from './accounts/usage.ts';
import {
  type CallFacts,
  failureOf,
  logFields,
  measuredBy,
  type Progress,
  refundOf,
  type Trace,
  traceOf,
  wasInvoked,
} from './call.ts';
import type { Coalesce } from './coalesce.ts';
import { invokeTool } from './invoke.ts';
import { errorReply, type HttpReply, jsonReply, keyReply, outputReply, withHeaders } from './reply.ts';
import { readRequest } from './request.ts';
import { healthReply, type StatusDependencies } from './status.ts';

export interface HttpRequest {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  /** Decoded pairs in the order of the query. */
  readonly query: readonly Given[];
  /** Whether the values of each name were passed together. */
  readonly grouped?: boolean | undefined;
  /** The `CDN-Loop` header: names the services a request came through (RFC 8586). */
  readonly loop?: string | undefined;
  /** The `X-Request-Id` header. */
  readonly requestId?: string | undefined;
  /** The `traceparent` header (W3C Trace Context). */
  readonly traceparent?: string | undefined;
  /** IP address of the caller. */
  readonly ip?: string | undefined;
}

export interface Dependencies extends LimitDependencies, StatusDependencies, DemoDependencies {
  readonly keys: KeyFinder;
  readonly usage: Usage;
  readonly storage: Storage;
  readonly coalesce: Coalesce;
  readonly contact: Contact;
  /** Why every request is rejected at the moment, for example because the service is stopping. */
  readonly refusal?: () => ConversionError | undefined;
  readonly log: Log;
  /** When usage is recorded. The default is before the reply. */
  readonly afterReply?: AfterReply;
}

interface Ended {
  readonly reply: HttpReply;
  readonly facts: CallFacts;
}

/** Responds to one request and logs one line that says how it ended. */
export async function route(
  http: HttpRequest,
  dependencies: Dependencies,
  signal: AbortSignal,
): Promise<HttpReply> {
  const { log } = dependencies;
  const started = performance.now();
  const trace = traceOf(http);
  const { reply, facts } = await respond(http, dependencies, trace, signal).catch((thrown): Ended => {
    const { error, code } = failureOf(thrown, trace, log, signal);
    return { reply: errorReply(error), facts: { code } };
  });
  log('call', logFields(trace, facts, reply.status, performance.now() - started));
  return withHeaders(reply, { 'X-Request-Id': trace.requestId });
}

async function respond(
  http: HttpRequest,
  dependencies: Dependencies,
  trace: Trace,
  signal: AbortSignal,
): Promise<Ended> {
  const { keys, contact, refusal, version } = dependencies;
  const refused = refusal?.();
  if (refused) throw refused;
  const endpoint = checkPath(http);
  if (endpoint === 'health') return { reply: await healthReply(dependencies), facts: { code: 'OK' } };
  if (endpoint === 'version') return { reply: jsonReply(200, version), facts: { code: 'OK' } };
  const key = await authenticate(http.query, keys);
  if (!key && endpoint === 'usage') return { reply: keyReply(contact), facts: { code: 'OK' } };
  if (!key) {
    const { url, facts } = await convertDemo(http, dependencies, trace, signal);
    return { reply: keyReply(contact, url), facts };
  }
  if (endpoint === 'usage') {
    const { id: keyId, account } = key;
    return { reply: await readUsage(key, dependencies), facts: { code: 'OK', keyId, account } };
  }
  return convert(http, key, dependencies, trace, signal);
}

/** Converts for the holder of a key: admit, read, join or invoke, reply. */
async function convert(
  http: HttpRequest,
  key: KeyRecord,
  dependencies: Dependencies,
  trace: Trace,
  signal: AbortSignal,
): Promise<Ended> {
  const { tools, coalesce, limits, log, afterReply = beforeReply } = dependencies;
  const { id: keyId, account } = key;
  const admission = await admit({ key, longest: limits.conversionTime }, dependencies);
  if (!admission.admitted) {
    const { code } = admission.error;
    return {
      reply: withHeaders(errorReply(admission.error), admission.headers),
      facts: { code, keyId, account },
    };
  }

  let progress: Progress = {};
  let ended: Ended | undefined;
  try {
    const request = readRequest(http.query, tools, http);
    checkTool(request.tool, key);
    progress = { request };
    const joined = await coalesce(JSON.stringify([account, request]), signal, async (shared) => ({
      result: await invokeTool(request, { account, trace }, dependencies, shared),
      requestId: trace.requestId,
    }));
    const { result, requestId } = joined;
    progress = { request, result, ...(requestId !== trace.requestId && { sharedWith: requestId }) };
    if (!result.ok) throw ConversionError.fromReport(result.error);
    const reply = await outputReply(request, result, dependencies.storage);
    ended = { reply, facts: { ...progress, code: 'OK', keyId, account } };
  } catch (thrown) {
    const { error, code } = failureOf(thrown, trace, log, signal);
    ended = { reply: errorReply(error), facts: { ...progress, code, keyId, account } };
  } finally {
    const facts = ended?.facts ?? { code: 'INTERNAL' };
    await afterReply(() => recordUsage(facts, dependencies));
    const headers = await admission.release(refundOf(facts));
    ended &&= { ...ended, reply: withHeaders(ended.reply, headers) };
  }
  return ended;
}

async function recordUsage(facts: CallFacts, { usage, log }: Dependencies): Promise<void> {
  const { request, account, code, sharedWith } = facts;
  if (!request || account === undefined || !wasInvoked(facts)) return;
  const { sourceBytes = 0, resultBytes = 0, pages = 0, milliseconds = 0 } = measuredBy(facts) ?? {};
  const measured = { sourceBytes, resultBytes, pages, milliseconds };
  await usage
    .record({ account, tool: request.tool.name, code, cached: sharedWith !== undefined, ...measured })
    .catch((thrown: unknown) => log('usage not recorded', { cause: describe(thrown) }, 'error'));
}

function checkTool({ name }: Tool, { tools }: KeyRecord): void {
  if (!tools || tools.includes(name)) return;
  throw new ConversionError(
    'UNKNOWN_APP',
    `Parameter 'app' must be one of ${tools.join(', ')} for this API key, got '${name}'.`,
  );
}

type Endpoint = 'convert' | 'usage' | 'health' | 'version';

const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  '/api': 'convert',
  '/api/': 'convert',
  '/api/usage': 'usage',
  '/api/health': 'health',
  '/api/version': 'version',
};

function checkPath({ method, path, loop }: HttpRequest): Endpoint {
  const endpoint = Object.hasOwn(ENDPOINTS, path) ? ENDPOINTS[path] : undefined;
  if (!endpoint) {
    throw new ConversionError('NOT_FOUND', 'Not found. Send conversion requests to /api/.');
  }
  if (method !== 'GET') throw new ConversionError('METHOD_NOT_ALLOWED', 'The method must be GET.');
  if (loop?.includes(CDN_LOOP))
    throw new ConversionError('BLOCKED_ADDRESS', 'The service does not convert its own responses.');
  return endpoint;
}
