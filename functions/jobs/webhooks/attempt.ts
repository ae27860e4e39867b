import type { Storage } from '../../platform/storage.ts';
import type { EgressGuard } from '../../shared/egress/guard.ts';
import { ConversionError } from '../../shared/errors.ts';
import type { Log } from '../../shared/log.ts';
import { HOUR, MINUTE } from '../../shared/time.ts';
import type { Tool } from '../../shared/tool.ts';
import { describeJob } from '../endpoint.ts';
import type { Delivery, Job } from '../job.ts';
import type { WebhookSecrets } from './secrets.ts';
import { sendWebhook } from './send.ts';

export interface DeliveryDependencies {
  readonly guard: EgressGuard;
  readonly secrets: WebhookSecrets;
  readonly tools: readonly Tool[];
  /** Returns the storage whose URLs have an origin. */
  storageAt(origin: string): Storage;
}

/** How long after each attempt the next one follows, in milliseconds. Together a little more than a day. */
const PAUSES = [5000, MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 8 * HOUR, 8 * HOUR];
/** A pause is shortened by up to this part of it, so that receivers that were down do not get all at once. */
const JITTER = 0.2;

/** Whether an attempt is due sooner or later. */
export function isPending({ delivery }: Job): boolean {
  return delivery?.state === 'pending';
}

/** Delivers the webhook of a job once, and returns what to record. */
export async function attemptDelivery(
  job: Job,
  { guard, secrets, tools, storageAt }: DeliveryDependencies,
  signal: AbortSignal,
): Promise<Delivery> {
  const { url, attempts } = job.delivery!;
  const { origin } = job.call;
  const { webhook: _, ...data } = await describeJob(job, { tools, storage: storageAt(origin) }, origin);
  const body = JSON.stringify({ type: `job.${job.status}`, timestamp: data.ended, data });
  const id = job.id.replace('job_', 'msg_');
  const message = { url, account: job.account, id, body, secrets: await secrets.get(job.account) };
  const { isDelivered, isGone, text } = await sendWebhook(message, guard, signal);
  const done = { url, attempts: attempts + 1, last: text };
  if (isDelivered) return { ...done, state: 'delivered' };
  const pause = PAUSES[attempts];
  if (isGone || pause === undefined) return { ...done, state: 'failed' };
  return { ...done, state: 'pending', next: Date.now() + Math.round(pause * (1 - JITTER * Math.random())) };
}

/** Logs an attempt that has failed, and whether it was the last one. */
export function logDelivery({ id }: Pick<Job, 'id'>, { state, attempts, last }: Delivery, log: Log): void {
  const event = state === 'failed' ? 'webhook given up' : 'webhook not delivered';
  if (state !== 'delivered') log(event, { requestId: id, attempts, last }, 'warn');
}

/** @throws ConversionError `BLOCKED_ADDRESS`, `BAD_PARAMETER` for a URL that no webhook is sent to */
export async function checkWebhook(
  url: string,
  account: string,
  { guard, isInsecureAllowed }: { readonly guard: EgressGuard; isInsecureAllowed(url: URL): boolean },
  signal: AbortSignal,
): Promise<void> {
  const parsed = new URL(url);
  if (parsed.protocol !== 'https:' && !isInsecureAllowed(parsed)) {
    const message = "Parameter '_webhook' must be an https URL, because results are sent to it.";
    throw new ConversionError('BAD_PARAMETER', message, { parameter: '_webhook' });
  }
  await guard.check(parsed, { account, signal }).catch((thrown: unknown) => {
    if (!(thrown instanceof ConversionError)) throw thrown;
    throw new ConversionError(thrown.code, `Parameter '_webhook': ${thrown.message}`, {
      parameter: '_webhook',
    });
  });
}
