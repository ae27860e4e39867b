import { ConversionError } from '../shared/errors.ts';
import { quote } from '../shared/quote.ts';

/** The parameters of a conversion that is a job. */
export const JOB_PARAMETERS = ['_async', '_webhook'] as const;

/** Asks for a job instead of a result. */
export interface JobOptions {
  /** URL to notify when the job has ended. */
  readonly webhook?: string;
}

const MAX_URL = 2000;

/**
 * Reads `_async` and `_webhook`. Returns `undefined` if the caller waits for the result.
 * @throws ConversionError `BAD_PARAMETER`
 */
export function readJobOptions({
  async,
  webhook,
  response,
  isJob,
}: {
  readonly async: string | undefined;
  readonly webhook: string | undefined;
  readonly response: string | undefined;
  /** Whether `_async` is 1 by default. */
  readonly isJob: boolean;
}): JobOptions | undefined {
  if (async !== undefined && async !== '0' && async !== '1')
    throw new ConversionError('BAD_PARAMETER', `Parameter '_async' must be 0 or 1, got ${quote(async)}.`);
  if (webhook !== undefined) checkUrl(webhook);
  if ((webhook !== undefined || isJob) && async === '0') {
    const cause = webhook === undefined ? 'A request for a job' : "Parameter '_webhook'";
    throw new ConversionError('BAD_PARAMETER', `${cause} requires '_async=1'.`);
  }
  if (async !== '1' && webhook === undefined && !isJob) return undefined;
  if (response !== undefined && response !== 'text') {
    const message = `Parameter '_response=${response}' sends the result itself, which a job cannot do. Leave out '_async' and '_webhook', or '_response'.`;
    throw new ConversionError('BAD_PARAMETER', message);
  }
  return webhook === undefined ? {} : { webhook };
}

function checkUrl(text: string): void {
  const url = text.length <= MAX_URL ? URL.parse(text) : undefined;
  const isValid = url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (isValid) return;
  const rule = `an https URL of at most ${MAX_URL} characters without a user name`;
  throw new ConversionError('BAD_PARAMETER', `Parameter '_webhook' must be ${rule}, got ${quote(text)}.`, {
    parameter: '_webhook',
  });
}
