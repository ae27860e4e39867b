import { randomBytes } from 'node:crypto';
import type { Invoke } from '../platform/invoke/invoke.ts';
import type { KeyFinder, KeyRecord } from '../platform/keys/keys.ts';
import type { Refund } from '../platform/limits/limits.ts';
import { DEMO_PREFIX, type Storage } from '../platform/storage.ts';
import type { Usage } from '../platform/usage/usage.ts';
import { type AfterReply, beforeReply } from '../shared/conversion/after-reply.ts';
import { ConversionError } from '../shared/errors.ts';
import { describe, type Log } from '../shared/log.ts';
import type { Given } from '../shared/options/parameters.ts';
import { ignoredForSource } from '../shared/options/read-options.ts';
import { contentTypeOf } from '../shared/output-name.ts';
import { CDN_LOOP } from '../shared/source/request.ts';
import { abortError, isTimeout } from '../shared/timeout.ts';
import type { Limits, Tool } from '../shared/tool.ts';
import { type Contact, checkAccess } from './accounts/access.ts';
import {
  admitDemo,
  DEMO_LIMITS,
  type DemoSettings,
  demoAccount,
  demoQuery,
  watermarkQuery,
} from './accounts/demo.ts';
import { type LimitDependencies, withinLimits } from './accounts/limit.ts';
import { readUsage } from './accounts/usage.ts';
import { beginCall, type Call, callFacts } from './call.ts';
import type { Coalesce } from './coalesce.ts';
import { errorReply, type HttpReply, jsonReply, keyReply, outputReply } from './reply.ts';
import { type ConversionRequest, readRequest } from './request.ts';
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

export interface Dependencies extends LimitDependencies, StatusDependencies {
  readonly tools: readonly Tool[];
  readonly keys: KeyFinder;
  readonly usage: Usage;
  readonly storage: Storage;
  readonly invoke: Invoke;
  readonly coalesce: Coalesce;
  readonly limits: Limits;
  readonly contact: Contact;
  /** Off if absent. */
  readonly demo?: DemoSettings | undefined;
  /** Why every request is rejected at the moment, for example because the service is stopping. */
  readonly refusal?: () => ConversionError | undefined;
  readonly log: Log;
  /** When usage is recorded. The default is before the reply. */
  readonly afterReply?: AfterReply;
}

const MINUTE = 60_000;

/** Responds to one request and logs one line that says how it ended. */
export async function route(
  http: HttpRequest,
  dependencies: Dependencies,
  signal: AbortSignal,
): Promise<HttpReply> {
  const { log } = dependencies;
  const started = performance.now();
  const call = beginCall(http);
  const reply = await respond(http, dependencies, signal, call).catch((thrown) =>
    failedReply(thrown, call, log, signal),
  );
  log('call', callFacts(call, reply.status, performance.now() - started));
  return { ...reply, headers: { ...reply.headers, 'X-Request-Id': call.requestId } };
}

/** Checks access and limits, then runs the conversion. */
async function respond(
  http: HttpRequest,
  dependencies: Dependencies,
  signal: AbortSignal,
  call: Call,
): Promise<HttpReply> {
  const { keys, contact, limits, log, refusal, afterReply = beforeReply } = dependencies;
  const refused = refusal?.();
  if (refused) throw refused;
  const endpoint = checkPath(http);
  if (endpoint === 'health') return healthReply(dependencies);
  if (endpoint === 'version') return jsonReply(200, dependencies.version);
  const key = await checkAccess(http.query, keys);
  if (!key) return keyReply(contact, await demoResult(http, dependencies, signal, call, endpoint));
  call.keyId = key.id;
  call.account = key.account;
  if (endpoint === 'usage') return readUsage(key, dependencies);

  return withinLimits(
    { key, longest: limits.conversionTime },
    dependencies,
    () =>
      convertCall(http, key, dependencies, signal, call)
        .catch((thrown) => failedReply(thrown, call, log, signal))
        .finally(() => afterReply(() => recordUsage(call, dependencies))),
    () => refundOf(call),
    (error) => failedReply(error, call, log, signal),
  );
}

/**
 * Runs a demo conversion and returns the URL of its result. If anything fails, the caller gets only the text about the key.
 */
async function demoResult(
  http: HttpRequest,
  dependencies: Dependencies,
  signal: AbortSignal,
  call: Call,
  endpoint: Endpoint,
): Promise<string | undefined> {
  const { demo, tools, limiter, limits, storage, log } = dependencies;
  if (!demo || endpoint !== 'convert') return undefined;
  call.demo = true;
  const end = Date.now() + DEMO_LIMITS.conversionTime;
  const account = { account: demoAccount(http.ip) };
  const run = async (query: readonly Given[]) => {
    const request = readRequest(query, tools);
    const conversionTime = Math.max(1, Math.min(limits.conversionTime, end - Date.now()));
    const sourceBytes = Math.min(limits.sourceBytes, DEMO_LIMITS.sourceBytes);
    const tight = { ...dependencies, limits: { ...limits, sourceBytes, conversionTime } };
    const { result } = await convert(request, account, tight, signal, call, DEMO_PREFIX);
    if (!result.ok) throw ConversionError.fromReport(result.error);
    return storage.url(result.objectKeys[0] ?? '');
  };
  try {
    const asked = readRequest(http.query, tools, http);
    call.tool = asked.tool.name;
    if (asked.outputName.kind !== 'one') return undefined;
    const query = demoQuery(http.query, asked.tool, asked.format);
    if (!(await admitDemo(http.ip, demo, limiter))) {
      call.code = 'RATE_LIMITED';
      return undefined;
    }
    const url = await run(query);
    const watermark = watermarkQuery(url, asked.outputName.name, asked.format);
    return watermark ? await run(watermark) : url;
  } catch (thrown) {
    failedReply(thrown, call, log, signal);
    return undefined;
  }
}

/** Reads the request, invokes the tool and writes the reply. */
async function convertCall(
  http: HttpRequest,
  key: KeyRecord,
  dependencies: Dependencies,
  signal: AbortSignal,
  call: Call,
): Promise<HttpReply> {
  const { tools, coalesce, storage } = dependencies;
  const request = readRequest(http.query, tools, http);
  call.tool = request.tool.name;
  checkTool(request.tool, key);

  const identity = JSON.stringify([key.account, request]);
  call.invoked = true;
  const { result, requestId } = await coalesce(identity, signal, (shared) =>
    convert(request, key, dependencies, shared, call),
  ).catch((thrown) => {
    // The storage refused before a tool was invoked.
    if (thrown instanceof ConversionError && thrown.code === 'QUOTA_EXCEEDED') call.invoked = false;
    throw thrown;
  });
  if (requestId !== call.requestId) call.shared = requestId;
  call.measured = result.measured;
  if (!result.ok) throw ConversionError.fromReport(result.error);
  const { objectKeys, pageCount, settled, sourceKind } = result;
  const urls = await Promise.all(objectKeys.map((objectKey) => storage.url(objectKey)));
  const ignored = new Set([...request.ignored, ...ignoredForSource(request.tool, request.given, sourceKind)]);
  return outputReply(urls, { pageCount, settled, ignored: [...ignored] });
}

/** Lets the tool store its results under a prefix of its own. */
async function convert(
  { tool, format, outputName, source, options }: ConversionRequest,
  { account }: Pick<KeyRecord, 'account'>,
  { storage, invoke, limits }: Pick<Dependencies, 'storage' | 'invoke' | 'limits'>,
  signal: AbortSignal,
  { requestId, traceparent }: Call,
  parent = '',
) {
  const deadline = Date.now() + limits.conversionTime;
  // Object keys cannot be guessed: 128 random bits, then the cleaned file name.
  const prefix = `${parent}${randomBytes(16).toString('hex')}/`;
  const contentType = contentTypeOf({ format, outputName });
  const expires = deadline + MINUTE;
  const grant = await storage.grant({
    ...{ prefix, maxBytes: limits.resultBytes, expires, contentType },
    account,
  });
  const invocation = {
    requestId,
    ...(traceparent && { traceparent }),
    tool: tool.name,
    account,
    source,
    format,
    outputName,
    options,
    grant,
    limits,
    deadline,
  };
  const result = await invoke(invocation, signal);
  const foreign = result.ok && result.objectKeys.some((objectKey) => !objectKey.startsWith(prefix));
  if (foreign) throw new Error('A tool named an object outside its grant.');
  return { result, requestId };
}

function failedReply(thrown: unknown, call: Call, log: Log, signal: AbortSignal): HttpReply {
  const isOwn = thrown instanceof ConversionError && thrown.code !== 'TIMED_OUT';
  const error = signal.aborted && !isOwn ? abortError(signal) : ConversionError.from(thrown);
  // Nobody reads the reply to a caller who has disconnected.
  call.code = signal.aborted && !isOwn && !isTimeout(signal.reason) ? 'CANCELLED' : error.code;
  const { requestId } = call;
  if (call.code === 'INTERNAL') log('internal error', { requestId, cause: describe(error) }, 'error');
  // What did not reach a tool, or ended without its reply, has no other line.
  else if (call.code === error.code && error.status >= 500 && error.cause !== undefined)
    log('call failed', { requestId, cause: describe(error) }, 'warn');
  return errorReply(error);
}

/** Refunds calls that failed through no fault of the caller, and the quota of those that never reached a tool. */
function refundOf({ code, invoked }: Call): Refund {
  if (code === 'INTERNAL' || code === 'OVERLOADED') return 'all';
  return invoked ? 'none' : 'month';
}

async function recordUsage(call: Call, { usage, log }: Dependencies): Promise<void> {
  const { invoked, account, tool, code, measured, shared } = call;
  if (!invoked || account === undefined || tool === undefined) return;
  const cached = shared !== undefined;
  const { sourceBytes = 0, resultBytes = 0, pages = 0, milliseconds = 0 } = (!cached && measured) || {};
  await usage
    .record({ account, tool, code, cached, sourceBytes, resultBytes, pages, milliseconds })
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
