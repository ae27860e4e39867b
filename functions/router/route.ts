import { checkLength, parameterNames, withSamples } from '../conversion/request.ts';
import { acceptJob, asksForJob, respondAboutJobs } from '../jobs/endpoint.ts';
import { accountOfIp } from '../platform/accounts.ts';
import type { KeyRecord } from '../platform/keys.ts';
import { ConversionError } from '../shared/errors.ts';
import { takesSource } from '../shared/options/sources.ts';
import { alternatives } from '../shared/quote.ts';
import { authenticate, isSignedLink, linkExpiry, verifyLink } from './admission/authenticate.ts';
import { convertDemo } from './admission/demo.ts';
import { type Call, type CallResult, failureOf, logFields, tracedCall, traceOf } from './call.ts';
import { type Ended, runConversion, whileAdmitted } from './conversion.ts';
import type { Dependencies } from './dependencies.ts';
import {
  corsHeaders,
  deleteResult,
  findEndpoint,
  healthReply,
  preflightReply,
  readUsage,
} from './endpoints.ts';
import { type HttpRequest, JOBS_PATH } from './http.ts';
import { describeApi } from './reference.ts';
import {
  compressedReply,
  type HttpReply,
  jsonReply,
  type Presentation,
  presentationOf,
  withHeaders,
} from './reply.ts';
import { cacheHeaders } from './reuse.ts';
import { takeTurn } from './turn.ts';
import { openBody } from './uploads/body.ts';
import { deleteUpload, isForm, issueForm, receiveForm } from './uploads/forms.ts';

/** Responds to one request and logs its outcome in one line. */
export async function route(
  http: HttpRequest,
  dependencies: Dependencies,
  signal: AbortSignal,
): Promise<HttpReply> {
  const { log, logsIp, traces } = dependencies;
  const [started, began] = [performance.now(), Date.now()];
  const trace = traceOf(http);
  const present = presentationOf(http, trace.requestId);
  const { reply, facts } = await respond({ http, present, trace, signal }, dependencies).catch(
    (thrown): CallResult => {
      const { error, code } = failureOf(thrown, trace, log, signal);
      return { reply: present.error(error), facts: { code } };
    },
  );
  const fields = logFields(trace, facts, reply.status, performance.now() - started);
  log('call', { ...fields, ...(logsIp && { ip: http.ip }) });
  // Strangers could otherwise send any number of traces.
  if (facts.keyId !== undefined || facts.result !== undefined)
    traces?.record(tracedCall(trace, facts, reply.status, began));
  const cors = corsHeaders(http, dependencies.corsOrigins);
  return withHeaders(reply, { 'X-Request-Id': trace.requestId, ...cors });
}

async function respond(received: Omit<Call, 'endpoint'>, dependencies: Dependencies): Promise<CallResult> {
  const { http, present } = received;
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
    const reply = describeApi(tools, { canUpload: uploads !== undefined });
    return { reply: compressedReply(reply, http), facts: { code: 'OK' } };
  }
  if (endpoint === 'version') return { reply: jsonReply(200, version), facts: { code: 'OK' } };
  const isNewJob = http.method === 'POST' && http.path === JOBS_PATH;
  const call: Call = { ...received, endpoint: isNewJob ? 'convert' : endpoint };
  return http.body ? respondToBody(call, dependencies) : authorize(call, dependencies);
}

/** Responds to a request whose key may be in its body. */
async function respondToBody(call: Call, dependencies: Dependencies): Promise<CallResult> {
  const { http } = call;
  const { keys, keyless } = dependencies;
  const key = http.member ?? (await authenticate(http, keys));
  if (key) return readBody({ ...call, key }, dependencies);
  if (keyless?.admits(http.ip) === false) throw tooManyWithoutKeyError();
  let ended: CallResult | undefined;
  try {
    ended = await readBody(call, dependencies);
    return ended;
  } finally {
    const { code, account, isDemo } = ended?.facts ?? {};
    // Reading bodies costs the most, so bodies without a valid key are limited. Demo mode has its own limits.
    if (code !== 'OK' && account === undefined && !isDemo) keyless?.count(http.ip);
  }
}

/** Reads a body up to its first file, with the parameters in it. */
async function readBody(call: Call, dependencies: Dependencies): Promise<CallResult> {
  const { key, ...rest } = call;
  const { http, endpoint, signal } = rest;
  const caller = { name: key?.account ?? accountOfIp(http.ip), hasKey: key !== undefined };
  const { tools } = dependencies;
  const request = {
    ...http,
    body: http.body!,
    maySendSource: endpoint === 'convert',
    names: parameterNames(tools),
    takesSource: (name: string) => endpoint === 'convert' && takesSource(tools, name),
  };
  const body = await openBody(request, caller, signal);
  try {
    const query = [...http.query, ...body.parameters];
    if (endpoint === 'uploads' && isForm(body.parameters))
      return { reply: await receiveForm(body, dependencies, signal), facts: { code: 'OK' } };
    const isKeyInBody = body.parameters.some(({ name, value }) => name === 'apikey' && value !== '');
    const read = { ...rest, http: { ...http, query }, body };
    return await authorize(key && !isKeyInBody ? { ...read, key } : read, dependencies);
  } finally {
    body.close();
  }
}

function tooManyWithoutKeyError(): ConversionError {
  return new ConversionError(
    'RATE_LIMITED',
    'Too many request bodies without a valid key from this IP address. Retry in a minute, or send the key in the X-Api-Key header.',
    { retryAfter: 60 },
  );
}

/** Responds to a request for the holder of its key, or in demo mode. */
async function authorize(received: Call, dependencies: Dependencies): Promise<CallResult> {
  const { present, endpoint, signal } = received;
  const { keys, contact } = dependencies;
  const sent = received.http;
  const linkKey = isSignedLink(sent.query) ? await authorizeLink(received, dependencies) : undefined;
  // Not before, because the signature is that of the query as it was sent.
  const http = { ...sent, query: await withSamples(sent.query, dependencies) };
  const call = { ...received, http };
  if (linkKey) {
    if (asksForJob(http)) throw new ConversionError('INVALID_LINK', 'Signed links cannot ask for a job.');
    // A signed query is sorted, so the original order of its options is unknown.
    return convert({ ...call, http: { ...http, unordered: http.query.length } }, linkKey, dependencies);
  }
  const key = call.key ?? http.member ?? (await authenticate(http, keys));
  if (!key && (present.hasKeyStatus || endpoint === 'usage' || endpoint === 'jobs'))
    return { reply: present.key(contact), facts: { code: 'INVALID_KEY' } };
  if (!key) {
    const { url, facts } = await convertDemo(call, dependencies);
    const reply = present.key(contact, url);
    const isFailed = facts.isDemo && facts.code !== 'OK';
    return { reply: isFailed ? withHeaders(reply, { 'X-Demo-Error': facts.code }) : reply, facts };
  }
  await takeTurn(key.account);
  const facts = { code: 'OK', keyId: key.id, account: key.account } as const;
  switch (endpoint) {
    case 'convert':
      return convert(call, key, dependencies);
    case 'uploads':
      if (http.method === 'DELETE')
        return { reply: await deleteUpload(http.query, key, dependencies), facts };
      return prepareUpload(call, key, dependencies);
    case 'usage':
      return { reply: await readUsage(key, dependencies), facts };
    case 'jobs': {
      const respond = () => respondAboutJobs({ http, key, signal }, dependencies);
      if (http.method !== 'POST') return { reply: await respond(), facts };
      // Counted, so that nobody can flood the receiver of a webhook.
      const counted = { key, trace: call.trace, signal, maxDuration: 0, isCounted: false };
      return resultOf(await whileAdmitted(counted, dependencies, respond), present);
    }
    case 'results':
      return { reply: await deleteResult(http, key, dependencies), facts };
    default:
      return endpoint satisfies never;
  }
}

/** Returns the key of a signed link, which can only be used to convert. */
async function authorizeLink({ http, endpoint }: Call, { keys }: Dependencies): Promise<KeyRecord> {
  if (http.method === 'GET' && endpoint === 'convert') return verifyLink(http, keys);
  throw new ConversionError('INVALID_LINK', 'Signed links work only for GET requests to /api/.');
}

/** Issues an upload form. This counts as a request, but not as a conversion. */
async function prepareUpload(
  { http, body, present, trace, signal }: Call,
  key: KeyRecord,
  dependencies: Dependencies,
): Promise<CallResult> {
  const ended = await whileAdmitted({ key, trace, signal, maxDuration: 0 }, dependencies, () =>
    issueForm({ query: http.query, body }, key, dependencies),
  );
  return resultOf(ended, present);
}

/** Converts for the holder of a key. */
async function convert(
  { http, body, present, trace, signal }: Call,
  key: KeyRecord,
  dependencies: Dependencies,
): Promise<CallResult> {
  const { query, unordered } = http;
  const { storage, queue } = dependencies;
  const idempotencyKey = http.header('idempotency-key');
  const ended = await runConversion<HttpReply>(
    { query, unordered, body, key, trace, signal, idempotencyKey, isJob: asksForJob(http) },
    dependencies,
    {
      async deliver({ request, result, cache, created, isRepeated }) {
        const output = await present.output(request, result, { account: key.account, storage, signal });
        // Another status redirects to a URL that expires, and a repeated result may be a day old.
        const kept =
          output.status === 200 && !isRepeated
            ? cacheHeaders(request, { created, linkExpiry: linkExpiry(query) })
            : {};
        return withHeaders(output, {
          ...(cache && { 'X-Cache': cache }),
          ...(isRepeated && { 'Idempotent-Replayed': 'true' }),
          ...kept,
        });
      },
      ...(queue && {
        defer: (request, uploads) =>
          acceptJob(request, uploads, { http, present, key, trace, signal }, { ...dependencies, queue }),
      }),
    },
  );
  return resultOf(ended, present);
}

function resultOf(ended: Ended<HttpReply>, present: Presentation): CallResult {
  const reply = 'error' in ended ? present.error(ended.error) : ended.value;
  return { reply: withHeaders(reply, ended.headers), facts: ended.facts };
}

function methodRefused(methods: readonly string[], present: Presentation): CallResult {
  const message = `The method must be ${alternatives(methods)}.`;
  const error = new ConversionError('METHOD_NOT_ALLOWED', message);
  const reply = withHeaders(present.error(error), { Allow: methods.join(', ') });
  return { reply, facts: { code: error.code } };
}
