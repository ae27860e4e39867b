import type { Readable } from 'node:stream';
import { demoAccount } from '../platform/demo-account.ts';
import type { KeyFinder, KeyRecord } from '../platform/keys/keys.ts';
import type { ResultCache } from '../platform/result-cache.ts';
import type { Storage } from '../platform/storage.ts';
import type { Uploads } from '../platform/uploads.ts';
import type { Failures } from '../platform/usage/failures.ts';
import type { PriceRows } from '../platform/usage/report.ts';
import type { Usage } from '../platform/usage/usage.ts';
import { type AfterReply, beforeReply } from '../shared/conversion/after-reply.ts';
import { ConversionError, type ErrorReport } from '../shared/errors.ts';
import { describe, type Log } from '../shared/log.ts';
import type { Parameter } from '../shared/options/option.ts';
import { CDN_LOOP } from '../shared/source/request.ts';
import type { Tool } from '../shared/tool.ts';
import { authenticate, type Contact } from './admission/access.ts';
import { convertDemo, type DemoDependencies } from './admission/demo.ts';
import { type Admitted, admit, type LimitDependencies } from './admission/limit.ts';
import { isSigned, linkExpiry, verifyLink } from './admission/signature.ts';
import { readUsage } from './admission/usage.ts';
import { type Body, openBody } from './body/body.ts';
import { UPLOAD_TIMES } from './body/pace-upload.ts';
import { cacheHeaders, convertCached } from './cached.ts';
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
import { corsHeaders, preflightReply } from './cors.ts';
import { invokeTool } from './invoke.ts';
import { type Presentation, presentationOf } from './present.ts';
import { checkLength } from './query.ts';
import { describeApi } from './reference/openapi.ts';
import { type HttpReply, jsonReply, withHeaders } from './reply.ts';
import { type ConversionRequest, readRequest } from './request.ts';
import { healthReply, type StatusDependencies } from './status.ts';
import { CallUploads } from './uploads/call-uploads.ts';
import { isForm, issueForm, receiveForm } from './uploads/forms.ts';

export interface HttpRequest {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  /** Decoded pairs in the order of the query. */
  readonly query: readonly Parameter[];
  /** The query as it was sent, where it is known. */
  readonly rawQuery?: string | undefined;
  /** Number of leading pairs whose order is not known, because the values of each name were passed together. */
  readonly unordered?: number | undefined;
  /** Returns a header by its name in lower case; several of them are joined by commas. */
  header(name: string): string | undefined;
  /** Set for methods that send a body. It is read only after the key and the limits were checked. */
  readonly body?: Readable | undefined;
  /** IP address of the caller. */
  readonly ip?: string | undefined;
}

export interface Dependencies extends LimitDependencies, StatusDependencies, DemoDependencies {
  readonly keys: KeyFinder;
  readonly usage: Usage;
  /** Recent failures of each account. None are kept if it is absent. */
  readonly failures?: Failures | undefined;
  /** Whether the forms of an account are refused. Absent where the storage receives forms itself. */
  readonly isDisabled?: (account: string) => Promise<boolean>;
  /** Absent if callers are not told what their conversions cost. */
  readonly priceRows?: PriceRows | undefined;
  readonly storage: Storage;
  /** Sources can only be URLs if it is absent. */
  readonly uploads?: Uploads | undefined;
  readonly coalesce: Coalesce;
  /** Keeps results for requests with `_cache`. None is kept if it is absent. */
  readonly resultCache?: ResultCache | undefined;
  readonly contact: Contact;
  /** Origins of the web pages that may call the service, or `*`. None if absent. */
  readonly corsOrigins?: readonly string[] | undefined;
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
  const present = presentationOf(http, trace.requestId);
  const { reply, facts } = await respond({ http, present }, dependencies, trace, signal).catch(
    (thrown): Ended => {
      const { error, code } = failureOf(thrown, trace, log, signal);
      return { reply: present.error(error), facts: { code } };
    },
  );
  log('call', logFields(trace, facts, reply.status, performance.now() - started));
  const cors = corsHeaders(http, dependencies.corsOrigins);
  return withHeaders(reply, { 'X-Request-Id': trace.requestId, ...cors });
}

async function respond(
  { http, present }: Omit<Call, 'endpoint'>,
  dependencies: Dependencies,
  trace: Trace,
  signal: AbortSignal,
): Promise<Ended> {
  const { refusal, version } = dependencies;
  const refused = refusal?.();
  if (refused) throw refused;
  checkLength(http.query);
  const { endpoint, methods } = findEndpoint(http, dependencies);
  const preflight = preflightReply(http, dependencies.corsOrigins);
  if (preflight) return { reply: preflight, facts: { code: 'OK' } };
  if (!methods.includes(http.method)) return methodRefused(methods, present);
  if (endpoint === 'health') return { reply: await healthReply(dependencies), facts: { code: 'OK' } };
  if (endpoint === 'openapi') {
    const { tools, uploads } = dependencies;
    return { reply: describeApi(tools, { canUpload: uploads !== undefined }), facts: { code: 'OK' } };
  }
  if (endpoint === 'version') return { reply: jsonReply(200, version), facts: { code: 'OK' } };
  if (!http.body) return authorize({ http, present, endpoint }, dependencies, trace, signal);
  // The key may also be in the body.
  const known = await authenticate(http, dependencies.keys);
  if (known) return respondToBody({ http, present, endpoint, key: known }, dependencies, trace, signal);
  const { keyless } = dependencies;
  if (keyless?.admits(http.ip) === false) throw tooManyWithoutKey();
  let ended: Ended | undefined;
  try {
    ended = await respondToBody({ http, present, endpoint }, dependencies, trace, signal);
    return ended;
  } finally {
    const { code, account, isDemo } = ended?.facts ?? {};
    // Reading a body costs the most, so those that lead to no key are limited. Demo mode counts by itself.
    if (code !== 'OK' && account === undefined && !isDemo) keyless?.count(http.ip);
  }
}

async function respondToBody(
  { http, present, endpoint, key: known }: Omit<Call, 'body'>,
  dependencies: Dependencies,
  trace: Trace,
  signal: AbortSignal,
): Promise<Ended> {
  const caller = { name: known?.account ?? demoAccount(http.ip), hasKey: known !== undefined };
  const body = await openBody({ ...http, body: http.body! }, caller, signal);
  try {
    const query = [...http.query, ...body.parameters];
    if (endpoint === 'uploads' && isForm(body.parameters))
      return { reply: await receiveForm(body, dependencies, signal), facts: { code: 'OK' } };
    const isKeyInBody = body.parameters.some(({ name }) => name === 'apikey');
    const key = isKeyInBody ? undefined : known;
    const call = { http: { ...http, query }, present, endpoint, body, ...(key && { key }) };
    return await authorize(call, dependencies, trace, signal);
  } finally {
    body.close();
  }
}

function tooManyWithoutKey(): ConversionError {
  return new ConversionError(
    'RATE_LIMITED',
    'This IP address has sent too many bodies without a valid key. Retry in a minute, or send the key in the header X-API-Key.',
    { retryAfter: 60 },
  );
}

interface Call {
  readonly http: HttpRequest;
  readonly present: Presentation;
  readonly endpoint: Endpoint;
  readonly body?: Body;
  /** The record of the request's key, if it was found before the body was read. */
  readonly key?: KeyRecord;
}

/** Responds to a request for the holder of its key, or in demo mode. */
async function authorize(
  call: Call,
  dependencies: Dependencies,
  trace: Trace,
  signal: AbortSignal,
): Promise<Ended> {
  const { http, present, endpoint } = call;
  const { keys, contact } = dependencies;
  if (isSigned(http.query)) {
    const key = await authorizeLink(call, dependencies);
    // A signed query is sorted, so it does not say in which order its options were meant.
    return convert(
      { ...call, http: { ...http, unordered: http.query.length } },
      key,
      dependencies,
      trace,
      signal,
    );
  }
  const key = call.key ?? (await authenticate(http, keys));
  if (!key && present.hasKeyStatus) return { reply: present.key(contact), facts: { code: 'INVALID_KEY' } };
  if (!key && endpoint === 'usage') return { reply: present.key(contact), facts: { code: 'INVALID_KEY' } };
  if (!key) {
    const { url, facts } = await convertDemo(http, dependencies, trace, signal);
    return { reply: present.key(contact, url), facts };
  }
  if (endpoint === 'usage') {
    const { id: keyId, account } = key;
    return { reply: await readUsage(key, dependencies), facts: { code: 'OK', keyId, account } };
  }
  if (endpoint === 'uploads') return prepareUpload(call, key, dependencies, trace, signal);
  return convert(call, key, dependencies, trace, signal);
}

/** Returns the key of a signed link, which can only convert. */
async function authorizeLink({ http, endpoint }: Call, { keys }: Dependencies): Promise<KeyRecord> {
  if (http.method === 'GET' && endpoint === 'convert') return verifyLink(http, keys);
  throw new ConversionError('INVALID_LINK', 'A signed link is for a GET to /api/ only.');
}

/** Counts as a request, but not as a conversion. */
async function prepareUpload(
  { http, present }: Call,
  key: KeyRecord,
  dependencies: Dependencies,
  trace: Trace,
  signal: AbortSignal,
): Promise<Ended> {
  const admission = await admit({ key, longest: 0 }, dependencies);
  if (!admission.admitted) return notAdmitted(admission, key, present);
  const { id: keyId, account } = key;
  const { reply, code } = await issueForm(http.query, key, dependencies).then(
    (form) => ({ reply: form, code: 'OK' as const }),
    (thrown: unknown) => {
      const { error, code } = failureOf(thrown, trace, dependencies.log, signal);
      return { reply: present.error(error), code };
    },
  );
  const facts = { code, keyId, account };
  return { reply: withHeaders(reply, await admission.release(refundOf(facts))), facts };
}

function notAdmitted(
  { error, headers }: Extract<Admitted, { admitted: false }>,
  { id: keyId, account }: KeyRecord,
  present: Presentation,
): Ended {
  return {
    reply: withHeaders(present.error(error), headers),
    facts: { code: error.code, keyId, account },
  };
}

/** Converts for the holder of a key: admit, receive, read, join or invoke, reply. */
async function convert(
  { http, present, body }: Call,
  key: KeyRecord,
  dependencies: Dependencies,
  trace: Trace,
  signal: AbortSignal,
): Promise<Ended> {
  const { tools, coalesce, limits, log, afterReply = beforeReply } = dependencies;
  const { id: keyId, account } = key;
  const longest = limits.conversionTime + (body ? UPLOAD_TIMES.whole : 0);
  const admission = await admit({ key, longest }, dependencies);
  if (!admission.admitted) return notAdmitted(admission, key, present);

  const uploads = new CallUploads(account, dependencies, signal);
  let progress: Progress = {};
  let ended: Ended | undefined;
  try {
    const read = (added: readonly Parameter[]) => {
      const origin = { unordered: http.unordered, canUpload: dependencies.uploads !== undefined };
      const found = readRequest([...http.query, ...added], tools, origin);
      checkTool(found.tool, key);
      return found;
    };
    // All parameters are known, so their mistakes are reported before the source is received.
    if (body?.isSource) read([ANY_UPLOAD]);
    const accepted = read(body ? await uploads.receive(body) : []);
    const request = await uploads.open(accepted);
    progress = { request };
    const identity = JSON.stringify([account, { ...request, tool: request.tool.name }]);
    const joined = await coalesce(identity, signal, async (shared) => ({
      ...(await convertCached({ accepted, account }, dependencies, (validate) =>
        invokeTool(request, { account, trace, ...(validate && { validate }) }, dependencies, shared),
      )),
      requestId: trace.requestId,
    }));
    const { result, cache, created, requestId } = joined;
    const isShared = requestId !== trace.requestId;
    progress = { request, result, ...(isShared && { sharedWith: requestId }), ...(cache && { cache }) };
    if (!result.ok) throw failedConversion(result.error, request);
    const output = await present.output(request, result, { storage: dependencies.storage, signal });
    const kept = cacheHeaders(request, { created, linkExpiry: linkExpiry(http.query) });
    const reply = withHeaders(output, { ...(cache && { 'X-Cache': cache }), ...kept });
    ended = { reply, facts: { ...progress, code: 'OK', keyId, account } };
  } catch (thrown) {
    const { error, code } = failureOf(thrown, trace, log, signal);
    ended = { reply: present.error(error), facts: { ...progress, code, keyId, account } };
  } finally {
    const facts = ended?.facts ?? { code: 'INTERNAL' };
    await afterReply(async () => {
      // A file that cannot be deleted now is deleted when it expires.
      const closed = uploads
        .close()
        .catch((thrown: unknown) => log('upload not deleted', { cause: describe(thrown) }, 'error'));
      const failed = recordFailure(facts, trace, dependencies);
      await Promise.all([recordUsage(facts, dependencies), failed, closed]);
    });
    const headers = await admission.release(refundOf(facts));
    ended &&= { ...ended, reply: withHeaders(ended.reply, headers) };
  }
  return ended;
}

/** Returns the error of a conversion, with a hint if the server of the source may have been sent another URL than the caller meant. */
function failedConversion(report: ErrorReport, { isReassembled }: ConversionRequest): ConversionError {
  const error = ConversionError.fromReport(report);
  if (error.code !== 'SOURCE_STATUS' || !isReassembled) return error;
  const hint =
    "Parameter 'infile' was not encoded, so its own parameters may have arrived in another order or spelling: encode it.";
  return new ConversionError(error.code, `${error.message} ${hint}`, { cause: error });
}

const NOT_MEASURED = { sourceBytes: 0, resultBytes: 0, pages: 0, milliseconds: 0, steps: {} };

async function recordUsage(facts: CallFacts, { usage, log }: Dependencies): Promise<void> {
  const { request, account, code, sharedWith } = facts;
  if (!request || account === undefined || !wasInvoked(facts)) return;
  const { steps: _steps, ...measured } = measuredBy(facts) ?? NOT_MEASURED;
  const cached = sharedWith !== undefined || facts.cache === 'hit';
  await usage
    .record({ account, tool: request.tool.name, code, cached, coldStarts: 0, ...measured })
    .catch((thrown: unknown) => log('usage not recorded', { cause: describe(thrown) }, 'error'));
}

/** Keeps a failure for the pages of the account. A caller who disconnected does not count as one. */
async function recordFailure(
  { request, account, code }: CallFacts,
  { requestId }: Trace,
  { failures, log }: Dependencies,
): Promise<void> {
  if (!failures || account === undefined || code === 'OK' || code === 'CANCELLED') return;
  const tool = request && { tool: request.tool.name };
  await failures
    .record({ account, time: Date.now(), code, requestId, ...tool })
    .catch((thrown: unknown) => log('failure not recorded', { cause: describe(thrown) }, 'error'));
}

function checkTool({ name }: Tool, { tools }: KeyRecord): void {
  if (!tools || tools.includes(name)) return;
  throw new ConversionError(
    'UNKNOWN_APP',
    `Parameter 'app' must be one of ${tools.join(', ')} for this API key, got '${name}'.`,
  );
}

/** Stands for a source that has not been received yet. */
const ANY_UPLOAD: Parameter = { name: 'infile', value: `upload:${'0'.repeat(32)}/source` };

type Endpoint = 'convert' | 'uploads' | 'usage' | 'health' | 'version' | 'openapi';

const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  '/api': 'convert',
  '/api/': 'convert',
  '/api/uploads': 'uploads',
  '/api/usage': 'usage',
  '/api/health': 'health',
  '/api/version': 'version',
  '/api/openapi.json': 'openapi',
};

function findEndpoint(
  { method, path, header }: HttpRequest,
  { uploads }: Dependencies,
): { endpoint: Endpoint; methods: readonly string[] } {
  // `curl -T` appends the name of the file to the path.
  const isNamed = method === 'PUT' && uploads && /^\/api\/[^/]+$/.test(path);
  const known = Object.hasOwn(ENDPOINTS, path) ? ENDPOINTS[path] : undefined;
  const endpoint = isNamed ? 'convert' : known;
  if (!endpoint || (endpoint === 'uploads' && !uploads)) {
    throw new ConversionError('NOT_FOUND', 'Not found. Send conversion requests to /api/.');
  }
  if (header('cdn-loop')?.includes(CDN_LOOP))
    throw new ConversionError('BLOCKED_ADDRESS', 'The service does not convert its own responses.');
  if (endpoint === 'uploads') return { endpoint, methods: ['POST'] };
  return { endpoint, methods: endpoint === 'convert' && uploads ? ['GET', 'POST', 'PUT'] : ['GET'] };
}

function methodRefused(methods: readonly string[], present: Presentation): Ended {
  const message = `The method must be ${methods.join(', ').replace(/, (?=\w+$)/, ' or ')}.`;
  const error = new ConversionError('METHOD_NOT_ALLOWED', message);
  const reply = withHeaders(present.error(error), { Allow: methods.join(', ') });
  return { reply, facts: { code: error.code } };
}
