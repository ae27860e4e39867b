import type { ConversionRequest } from '../conversion/request.ts';
import type { StoredResults } from '../platform/invoke.ts';
import type { KeyRecord } from '../platform/keys.ts';
import type { SavedUploads } from '../router/uploads/call-uploads.ts';
import type { ErrorReport } from '../shared/errors.ts';
import { DAY } from '../shared/time.ts';
import type { Tool } from '../shared/tool.ts';

export const STATUSES = ['queued', 'running', 'done', 'failed', 'canceled'] as const;
export type Status = (typeof STATUSES)[number];

/** Maximum milliseconds that a job may be queued. */
export const MAX_QUEUED = DAY;
/** How long a job is kept, in milliseconds: longer than it can be queued, run and have its webhook delivered. */
export const JOB_LIFE = 4 * DAY;

/** The state of the webhook of a job. */
export interface Delivery {
  readonly url: string;
  /** `none` until the job has ended. */
  readonly state: 'none' | 'pending' | 'delivered' | 'failed';
  /** Number of attempts so far. */
  readonly attempts: number;
  /** Epoch milliseconds of the next attempt. */
  readonly next?: number;
  /** HTTP status of the last response, or why there was none. */
  readonly last?: string;
}

/** A request that was accepted earlier, with the name of its tool. */
type StoredRequest = Omit<ConversionRequest, 'tool' | 'choices'> & { readonly tool: string };

/** Everything that a job needs to run, which never changes. */
export interface JobCall {
  /** The key as it was when the job was accepted. */
  readonly key: KeyRecord;
  readonly request: StoredRequest;
  readonly uploads: SavedUploads;
  /** Origin of the URLs of its results. */
  readonly origin: string;
  /** W3C trace context of the caller. */
  readonly traceparent?: string | undefined;
}

/** How a job ended, unless it was canceled. */
export type JobEnd =
  | { readonly status: 'done'; readonly result: StoredResults }
  | { readonly status: 'failed'; readonly error: ErrorReport };

/** A conversion that the caller does not wait for. */
export interface Job {
  /** Unique among all accounts. Contains `number`. */
  readonly id: string;
  readonly account: string;
  /** Position among all jobs of the account, from 1. */
  readonly number: number;
  readonly status: Status;
  /** Epoch milliseconds. */
  readonly created: number;
  readonly started?: number;
  readonly ended?: number;
  readonly call: JobCall;
  /** Number of times that it was started. On one machine, a start that the busy service took back does not count. */
  readonly starts: number;
  /** Set once the job has ended, unless it was canceled. */
  readonly end?: JobEnd;
  readonly delivery?: Delivery;
}

export function storedRequest({ tool, choices: _, ...request }: ConversionRequest): StoredRequest {
  return { ...request, tool: tool.name };
}

/** Returns the request of a job with its tool. @throws Error if this version has no such tool */
export function requestOf({ id, call: { request } }: Job, tools: readonly Tool[]): ConversionRequest {
  const tool = tools.find(({ name }) => name === request.tool);
  if (!tool) throw new Error(`Job ${id} is for an unknown tool.`);
  return { ...request, tool };
}

export function hasEnded({ status }: Pick<Job, 'status'>): boolean {
  return status !== 'queued' && status !== 'running';
}
