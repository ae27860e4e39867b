import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ERRORS, type ErrorCode } from '../../functions/shared/errors.ts';
import type { Parameter } from '../../functions/shared/options/option.ts';

/** A request to the service, on this machine or another one. */
export interface ServiceRequest {
  readonly query: readonly Parameter[];
  readonly headers: Readonly<Record<string, string>>;
  /** Absent if the source is a URL in the query. */
  readonly body?: Blob | FormData | undefined;
  /**
   * Names the request, so that a service behind a URL converts it as a job, and only once even if it is sent again. Engines on
   * this machine ignore it.
   */
  readonly name?: string | undefined;
}

interface ServiceReply {
  readonly status: number;
  readonly body: string;
  readonly retryAfter?: number | undefined;
}

/** Access to a service. */
export interface Service {
  /** @throws Error if there is no reply. */
  send(request: ServiceRequest, signal: AbortSignal): Promise<ServiceReply>;
  /** Downloads a result that a reply names to an existing file. */
  save(url: string, path: string, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** The reason why an input was not converted. */
export class Failure extends Error {
  readonly code: ErrorCode;
  readonly retryAfter: number | undefined;
  /** The parameter at fault, and the position of the file at fault among its values. */
  readonly place: { readonly parameter?: string; readonly index?: number };

  constructor(code: ErrorCode, message: string, retryAfter?: number, place: Failure['place'] = {}) {
    super(message);
    this.code = code;
    this.retryAfter = retryAfter;
    this.place = place;
  }
}

export interface ServiceOutput {
  readonly url: string;
  readonly page?: number;
}

/** Reads a reply. @throws Failure with the error in it. */
export function outputsIn({ status, body, retryAfter }: ServiceReply) {
  const reply = parse(body);
  if (status === 200 && Array.isArray(reply?.outputs))
    return { outputs: reply.outputs, warnings: reply.warnings ?? [] };
  if (reply?.code !== undefined && Object.hasOwn(ERRORS, reply.code))
    throw new Failure(reply.code, reply.detail ?? '', retryAfter, reply.errors?.[0]);
  throw new Error(`The service returned status ${status} and no description of it. Check --url.`);
}

interface Reply {
  readonly outputs?: readonly ServiceOutput[];
  readonly warnings?: readonly string[];
  readonly errors?: readonly Failure['place'][];
  readonly code?: ErrorCode;
  readonly detail?: string;
}

function parse(body: string): Reply | undefined {
  try {
    return JSON.parse(body) as Reply;
  } catch {
    return undefined;
  }
}

/** Seconds that a request waits for a job. Less than a proxy allows a response to take. */
const WAIT = 25;

const ASYNC: Parameter = { name: '_async', value: '1' };
const CANCELED = JSON.stringify({ code: 'CONVERSION_FAILED', detail: 'The job was canceled.' });

interface JobReply {
  readonly id: string;
  readonly status: string;
  readonly error?: { readonly code: string; readonly detail: string };
}

/** Returns the job that a reply describes. */
function jobIn({ status, body }: ServiceReply): JobReply | undefined {
  const reply = status < 300 ? (parse(body) as Partial<JobReply> | undefined) : undefined;
  return reply?.id !== undefined && reply.status !== undefined ? (reply as JobReply) : undefined;
}

/** A service behind a URL. */
export function remoteService(url: string, key: string | undefined): Service {
  const base = `${url.replace(/\/+$/, '').replace(/\/api$/, '')}/api/`;
  const authorization: Record<string, string> = key === undefined ? {} : { Authorization: `Bearer ${key}` };
  const call = async (target: string, signal: AbortSignal, { headers, ...init }: RequestInit = {}) => {
    const sent = { ...init, headers: { ...(headers as object), ...authorization }, signal };
    const response = await fetch(target, sent).catch((thrown: Error) => {
      if (signal.aborted) throw thrown;
      const { cause = thrown } = thrown;
      throw new Error(`The service at ${base} did not respond: ${(cause as Error).message}`, { cause });
    });
    const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
    return {
      status: response.status,
      body: await response.text(),
      ...(Number.isFinite(retryAfter) && { retryAfter }),
    };
  };
  return {
    async send({ query, headers, body, name }, signal) {
      const send = (parameters: readonly Parameter[], more: Readonly<Record<string, string>> = {}) => {
        const pairs = parameters.map((each): [string, string] => [each.name, each.value]);
        return call(`${base}?${new URLSearchParams(pairs)}`, signal, {
          method: body ? 'POST' : 'GET',
          headers: { ...headers, ...more },
          ...(body && { body }),
        });
      };
      if (name === undefined) return send(query);
      let reply: ServiceReply = await send([...query, ASYNC], { 'Idempotency-Key': name });
      // The service has no jobs.
      if (reply.status === 400 && reply.body.includes(ASYNC.name)) return send(query);
      for (let job = jobIn(reply); job && job.status !== 'done'; job = jobIn(reply)) {
        if (job.status === 'failed') return { status: 422, body: JSON.stringify(job.error) };
        if (job.status === 'canceled') return { status: 422, body: CANCELED };
        reply = await call(`${base}jobs/${job.id}?wait=${WAIT}`, signal);
      }
      return reply;
    },
    async save(result, path, signal) {
      const response = await fetch(result, { signal });
      if (!response.ok || !response.body) throw new Error(`The result has status ${response.status}.`);
      await pipeline(Readable.fromWeb(response.body), createWriteStream(path));
    },
    async close() {},
  };
}
