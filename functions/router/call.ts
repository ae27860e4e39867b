import { randomUUID } from 'node:crypto';
import type { ConversionRequest } from '../conversion/request.ts';
import type { InvocationResult, Measured } from '../platform/invoke.ts';
import type { KeyRecord } from '../platform/keys.ts';
import type { Refund } from '../platform/limits.ts';
import type { Failures, Usage } from '../platform/usage.ts';
import { ConversionError, type ErrorCode, isDiskFull } from '../shared/errors.ts';
import { containsApiKey, describe, type Log } from '../shared/log.ts';
import { abortError, isTimeout } from '../shared/time.ts';
import type { Endpoint } from './endpoints.ts';
import type { HttpRequest } from './http.ts';
import type { HttpReply, Presentation } from './reply.ts';
import type { CacheStatus } from './reuse.ts';
import type { TracedCall, TraceSettings, Traces } from './trace-exporter.ts';
import type { Body } from './uploads/body.ts';

/** Identifies a call in every log line, in the response and to the tool. */
export interface Trace {
  readonly requestId: string;
  /** W3C trace context of the caller. */
  readonly traceparent: string | undefined;
}

/** How a call ended. `CANCELLED` if the caller disconnected. */
type Outcome = 'OK' | 'CANCELLED' | ErrorCode;

/** Progress of a conversion, even of one that failed halfway. */
export interface Progress {
  /** Set once the request has been accepted. From then on a tool may have been invoked. */
  readonly request?: ConversionRequest | undefined;
  readonly result?: InvocationResult | undefined;
  /** Request ID of the call that ran the shared conversion. */
  readonly sharedWith?: string | undefined;
  /** Whether an earlier result was used, for requests with `_cache`. */
  readonly cache?: CacheStatus;
  /** Whether an earlier request with the same `Idempotency-Key` is running, or has ended. */
  readonly isRepeated?: boolean;
}

/** Facts about a finished call, for its log line, its limits and its usage. */
export interface CallFacts extends Progress {
  readonly code: Outcome;
  readonly keyId?: string;
  readonly account?: string;
  readonly isDemo?: boolean;
  /** Whether the account itself has too many conversions in progress. */
  readonly exceedsShare?: boolean;
}

/** A call in progress. */
export interface Call {
  readonly http: HttpRequest;
  readonly present: Presentation;
  /** An endpoint that needs a key. */
  readonly endpoint: Exclude<Endpoint, 'health' | 'openapi' | 'version'>;
  readonly trace: Trace;
  readonly signal: AbortSignal;
  readonly body?: Body;
  /** The record of the request's key, if it was found before the body was read. */
  readonly key?: KeyRecord;
}

/** A finished call with its reply. */
export interface CallResult {
  readonly reply: HttpReply;
  readonly facts: CallFacts;
}

const REQUEST_ID = /^[\w.:-]{1,64}$/;
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Starts tracing a call. Keeps the caller's request ID and trace context if they are safe to log. */
export function traceOf({ header }: { header(name: string): string | undefined }): Trace {
  const read = (name: string, form: RegExp) => {
    const value = header(name);
    // It is logged, and a caller may put the key into the wrong header.
    return value !== undefined && form.test(value) && !containsApiKey(value) ? value : undefined;
  };
  return {
    requestId: read('x-request-id', REQUEST_ID) ?? randomUUID(),
    traceparent: read('traceparent', TRACEPARENT),
  };
}

/**
 * Returns the error for the caller and the outcome for the log. Logs the cause if no other log line would contain it.
 */
export function failureOf(
  thrown: unknown,
  { requestId }: Trace,
  log: Log,
  signal: AbortSignal,
): { readonly error: ConversionError; readonly code: Outcome } {
  const isOwn = thrown instanceof ConversionError && thrown.code !== 'TIMED_OUT';
  const error = signal.aborted && !isOwn ? abortError(signal) : ConversionError.from(thrown);
  // Nobody reads the reply to a caller who has disconnected.
  if (signal.aborted && !isOwn && !isTimeout(signal.reason)) return { error, code: 'CANCELLED' };
  if (error.code === 'INTERNAL') log('internal error', { requestId, cause: describe(error) }, 'error');
  else if (isDiskFull(error)) log('disk full', { requestId, cause: describe(error) }, 'error');
  // A call that did not reach a tool, or ended without the tool's reply, has no other log line.
  else if (error.status >= 500 && error.cause !== undefined)
    log('call failed', { requestId, cause: describe(error) }, 'warn');
  return { error, code: error.code };
}

/**
 * Whether a tool may have been invoked. With `QUOTA_EXCEEDED`, the storage refused either the grant, before that, or
 * the result.
 */
function wasInvoked({ code, request, result, exceedsShare, isRepeated }: CallFacts): boolean {
  if (isRepeated) return false;
  return request !== undefined && !exceedsShare && (code !== 'QUOTA_EXCEEDED' || result !== undefined);
}

/**
 * Returns what to refund: everything for calls that failed through no fault of the caller, and the quota for calls
 * that never reached a tool.
 */
export function refundOf(facts: CallFacts): Refund {
  const { code, exceedsShare } = facts;
  if (code === 'INTERNAL' || (code === 'OVERLOADED' && !exceedsShare)) return 'all';
  return wasInvoked(facts) ? 'none' : 'month';
}

/** Returns the resources that the conversion used, unless another call has already counted them. */
function measuredBy({ result, sharedWith }: CallFacts): Measured | undefined {
  return sharedWith === undefined ? result?.measured : undefined;
}

/** Returns what the trace of a call contains that has just ended. The method, the URL and its options are no part of it. */
export function tracedCall(
  { requestId, traceparent }: Trace,
  facts: CallFacts,
  status: number,
  began: number,
): TracedCall {
  const { code, keyId, request, sharedWith } = facts;
  return {
    traceparent,
    began,
    ended: Date.now(),
    attributes: {
      'docmill.request_id': requestId,
      'docmill.code': code,
      'http.response.status_code': status,
      ...(request && { 'docmill.tool': request.tool.name }),
      ...(keyId && { 'docmill.key_id': keyId }),
      ...(sharedWith && { 'docmill.shared_with': sharedWith }),
    },
    isFailure: status >= 500,
    steps: measuredBy(facts)?.timed ?? [],
  };
}

/** Returns the fields of a call's log line. */
export function logFields(
  { requestId, traceparent }: Trace,
  { keyId, request, isDemo, code, sharedWith, cache, isRepeated, result }: CallFacts,
  status: number,
  milliseconds: number,
): Record<string, unknown> {
  return {
    requestId,
    ...(traceparent && { traceparent }),
    ...(keyId && { keyId }),
    ...(isDemo && { demo: true }),
    ...(request && { tool: request.tool.name, format: request.format }),
    // The names only, which are those of the tool. Values are the caller's.
    ...(request?.optionNames.length && { options: [...new Set(request.optionNames)] }),
    code,
    status,
    milliseconds: Math.round(10 * milliseconds) / 10,
    ...(sharedWith && { sharedWith }),
    ...(cache && { cache }),
    ...(isRepeated && { repeated: true }),
    ...(result?.measured && { sourceBytes: result.measured.sourceBytes, steps: result.measured.steps }),
  };
}

const NOT_MEASURED: Measured = { sourceBytes: 0, resultBytes: 0, pages: 0, milliseconds: 0, steps: {} };

/** Counts a call for the account, if a tool may have been invoked. */
export async function recordUsage(
  facts: CallFacts,
  { usage, log }: { readonly usage: Usage; readonly log: Log },
): Promise<void> {
  const { request, account, code, sharedWith } = facts;
  if (!request || account === undefined || !wasInvoked(facts)) return;
  const { steps: _steps, timed: _timed, ...measured } = measuredBy(facts) ?? NOT_MEASURED;
  const cached = sharedWith !== undefined || facts.cache === 'hit';
  await usage
    .record({ account, tool: request.tool.name, code, cached, coldStarts: 0, ...measured })
    .catch((thrown: unknown) => log('usage not recorded', { cause: describe(thrown) }, 'error'));
}

/** Records a failure for the account's pages. A caller who disconnected does not count. */
export async function recordFailure(
  { request, account, code }: CallFacts,
  { requestId }: Trace,
  { failures, log }: { readonly failures?: Failures | undefined; readonly log: Log },
): Promise<void> {
  if (!failures || account === undefined || code === 'OK' || code === 'CANCELLED') return;
  const tool = request && { tool: request.tool.name };
  await failures
    .record({ account, time: Date.now(), code, requestId, ...tool })
    .catch((thrown: unknown) => log('failure not recorded', { cause: describe(thrown) }, 'error'));
}

/** Sends traces as OpenTelemetry. Loads its packages with the first call, so that they do not delay the start. */
export function createTraces(settings: TraceSettings): Traces {
  let loaded: Promise<Traces> | undefined;
  const open = async (): Promise<Traces> => {
    const { openExporter } = await import('./trace-exporter.ts');
    return openExporter(settings, await settings.headers?.());
  };
  const failed = (thrown: unknown) => {
    loaded = undefined;
    settings.log('traces not sent', { cause: describe(thrown) }, 'warn');
  };
  return {
    record(call) {
      loaded ??= open();
      loaded.then((traces) => traces.record(call)).catch(failed);
    },
    flush: async () => (await loaded?.catch(() => undefined))?.flush(),
  };
}
