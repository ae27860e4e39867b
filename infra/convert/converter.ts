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

  constructor(code: ErrorCode, message: string, retryAfter?: number) {
    super(message);
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

export interface ServiceOutput {
  readonly url: string;
  readonly page?: number;
}

/** Reads a reply. @throws Failure with the error in it. */
export function outputsIn({ status, body, retryAfter }: ServiceReply): readonly ServiceOutput[] {
  const reply = parse(body);
  if (status === 200 && Array.isArray(reply?.outputs)) return reply.outputs;
  if (reply?.code !== undefined && Object.hasOwn(ERRORS, reply.code))
    throw new Failure(reply.code, reply.detail ?? '', retryAfter);
  throw new Error(`The service returned status ${status} and no description of it. Check --url.`);
}

interface Reply {
  readonly outputs?: readonly ServiceOutput[];
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

/** A service behind a URL. */
export function remoteService(url: string, key: string | undefined): Service {
  const base = `${url.replace(/\/+$/, '').replace(/\/api$/, '')}/api/`;
  return {
    async send({ query, headers, body }, signal) {
      const target = `${base}?${new URLSearchParams(query.map(({ name, value }): [string, string] => [name, value]))}`;
      const authorization: Record<string, string> =
        key === undefined ? {} : { Authorization: `Bearer ${key}` };
      const response = await fetch(target, {
        method: body ? 'POST' : 'GET',
        headers: { ...headers, ...authorization },
        ...(body && { body }),
        signal,
      }).catch((thrown: Error) => {
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
    },
    async save(result, path, signal) {
      const response = await fetch(result, { signal });
      if (!response.ok || !response.body) throw new Error(`The result has status ${response.status}.`);
      await pipeline(Readable.fromWeb(response.body), createWriteStream(path));
    },
    async close() {},
  };
}
