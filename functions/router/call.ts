import { randomUUID } from 'node:crypto';
import type { Measured } from '../platform/invoke/invoke.ts';
import { containsApiKey } from '../platform/keys/api-key.ts';
import type { ErrorCode } from '../shared/errors.ts';

/** What is known about a call so far, for its log line, its limits and its usage. */
export interface Call {
  /** In every log line of the call, and in the response. */
  readonly requestId: string;
  /** W3C trace context of the caller. */
  readonly traceparent: string | undefined;
  keyId?: string;
  account?: string;
  tool?: string;
  demo?: boolean;
  /** `CANCELLED` if the caller disconnected. */
  code: 'OK' | 'CANCELLED' | ErrorCode;
  /** Whether a tool was invoked. Before that, nothing has been converted. */
  invoked: boolean;
  measured?: Measured | undefined;
  /** Request id of the call whose conversion this one shared. */
  shared?: string;
}

const REQUEST_ID = /^[\w.:-]{1,64}$/;
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Begins a call. The caller's request id and trace are kept if they are safe to log. */
export function beginCall(given: { requestId?: string | undefined; traceparent?: string | undefined }): Call {
  const { requestId = '', traceparent = '' } = given;
  return {
    // A request id is logged, and a caller may send the key in the wrong header.
    requestId: REQUEST_ID.test(requestId) && !containsApiKey(requestId) ? requestId : randomUUID(),
    traceparent: TRACEPARENT.test(traceparent) ? traceparent : undefined,
    code: 'OK',
    invoked: false,
  };
}

/** Returns the log fields of a call that has ended. */
export function callFacts(call: Call, status: number, milliseconds: number): Record<string, unknown> {
  const { requestId, traceparent, keyId, tool, demo, code, shared, measured } = call;
  return {
    requestId,
    ...(traceparent && { traceparent }),
    ...(keyId && { keyId }),
    ...(demo && { demo }),
    ...(tool && { tool }),
    code,
    status,
    milliseconds: Math.round(10 * milliseconds) / 10,
    ...(shared && { sharedWith: shared }),
    ...(measured && { steps: measured.steps }),
  };
}
