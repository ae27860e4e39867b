import { createHmac } from 'node:crypto';
import * as http from 'node:http';
import * as https from 'node:https';
import type { EgressGuard } from '../../shared/egress/guard.ts';
import { ConversionError } from '../../shared/errors.ts';
import { CDN_LOOP } from '../../shared/source/request.ts';
import { withTimeout } from '../../shared/time.ts';

/** A signed message for a receiver. */
interface Webhook {
  readonly url: string;
  readonly account: string;
  /** The same in every attempt, so that the receiver can recognize a repeated one. */
  readonly id: string;
  readonly body: string;
  /** Each of them signs. */
  readonly secrets: readonly string[];
}

/** How a receiver has responded. */
export interface Response {
  readonly isDelivered: boolean;
  /** Whether the receiver wants no more attempts. */
  readonly isGone: boolean;
  /** HTTP status, or why there was no response. */
  readonly text: string;
}

/** Maximum milliseconds of an attempt. */
const TIMEOUT = 15_000;

/**
 * Sends a webhook by the Standard Webhooks specification. Checks the host again, connects only to the IP addresses that it
 * checked, and follows no redirect. Never fails.
 */
export async function sendWebhook(
  webhook: Webhook,
  guard: EgressGuard,
  signal: AbortSignal,
): Promise<Response> {
  try {
    const status = await withTimeout(TIMEOUT, signal, (stop) => post(webhook, guard, stop));
    const isDelivered = status >= 200 && status < 300;
    return { isDelivered, isGone: status === 410, text: `status ${status}` };
  } catch (thrown) {
    return { isDelivered: false, isGone: false, text: reasonOf(thrown) };
  }
}

async function post({ url, account, id, body, secrets }: Webhook, guard: EgressGuard, signal: AbortSignal) {
  const { lookup, url: checked } = await guard.check(url, { account, signal });
  const timestamp = Math.floor(Date.now() / 1000);
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'User-Agent': 'docmill',
    // The service refuses its own webhooks, which could otherwise ask for further jobs.
    'CDN-Loop': CDN_LOOP,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((secret) => signatureOf(`${id}.${timestamp}.${body}`, secret)).join(' '),
  };
  const { request } = checked.protocol === 'https:' ? https : http;
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  // A pooled connection may have been resolved by another lookup.
  const sending = request(checked, { method: 'POST', headers, lookup, agent: false, signal });
  sending.on('error', reject);
  // Without an error or a response, for example after status 101.
  sending.on('close', () => reject(new Error('closed without a response')));
  sending.on('response', (response) => {
    response.on('error', () => {}).destroy();
    resolve(response.statusCode ?? 0);
  });
  sending.end(body);
  return promise;
}

/** Signs as version 1 of the specification. */
function signatureOf(text: string, secret: string): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  return `v1,${createHmac('sha256', key).update(text).digest('base64')}`;
}

/** Says no more about a private network than the errors of sources do. */
function reasonOf(thrown: unknown): string {
  if (thrown instanceof ConversionError && thrown.code === 'TIMED_OUT')
    return `no response in ${TIMEOUT / 1000} s`;
  if (thrown instanceof ConversionError) return thrown.message;
  const { code } = thrown as NodeJS.ErrnoException;
  return code !== undefined && /^[A-Z_]{3,40}$/.test(code) ? code : 'the connection failed';
}
