import { createHash, randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';

/**
 * Permission to store the results of one conversion below one prefix. Only the storage that issued it can read it.
 */
export type Grant = Readonly<Record<string, unknown>>;

/** Prefix of the object keys of demo results, so that they can be deleted sooner. */
export const DEMO_PREFIX = 'demo/';
/** Prefix of the object keys of results that are deleted once they have been sent. */
export const ONCE_PREFIX = 'once/';

export interface GrantRequest {
  readonly prefix: string;
  readonly maxBytes: number;
  /** How long files may be stored, in milliseconds. */
  readonly lifetime: number;
  readonly contentType: string;
  /** The account that owns the results. */
  readonly account: string;
}

/** The router's side: issues grants and signs URLs. */
export interface Storage {
  /**
   * Allows `put` below `prefix` (which ends with a slash) for `lifetime`, with at most `maxBytes` per object and one
   * media type: `FORMATS[format].contentType`, or `application/zip` for an archive.
   */
  grant(request: GrantRequest): Promise<Grant>;
  /** Returns the presigned URL of an object, valid for the configured lifetime. */
  url(objectKey: string): Promise<string>;
  /**
   * Opens a stored result, with its type, length and name as headers. Returns `undefined` for one that only its URL can
   * deliver in time. Absent if this process itself serves the URLs.
   */
  open?(objectKey: string, signal: AbortSignal): Promise<OpenedResult | undefined>;
  /** Whether a result has been neither deleted nor expired. */
  exists(objectKey: string): Promise<boolean>;
  /** Deletes a result of an account if it exists. */
  remove(result: { readonly objectKey: string; readonly account: string }): Promise<void>;
  /** Lifetime of a URL in seconds. */
  readonly urlLifetime?: number;
}

interface OpenedResult {
  readonly headers: Readonly<Record<string, string>>;
  readonly content: Readable;
}

export interface StoredFile {
  /** Path of the file on disk. `put` may move it away. */
  readonly path: string;
  /** The last part of the object key. */
  readonly name: string;
  readonly contentType: string;
  /** Size of the file in bytes. */
  readonly bytes: number;
  /** Page of the document, if there is a file per page. */
  readonly page?: number;
}

/** The tool's side: stores one file under a grant and returns its object key. */
export type Put = (grant: Grant, file: StoredFile, signal: AbortSignal) => Promise<string>;

/**
 * Returns a new unique prefix for the results of one conversion, which only `isOwner` connects with the account. URLs are
 * signed, so it need not be a secret.
 */
export function createPrefix(account: string): string {
  const random = randomBytes(10).toString('hex');
  return `${random}${ownerMark(account, random)}/`;
}

/** Whether the results of an account have this prefix, a result of `createPrefix`. */
export function isOwner(account: string, prefix: string): boolean {
  return prefix === `${prefix.slice(0, 20)}${ownerMark(account, prefix.slice(0, 20))}/`;
}

function ownerMark(account: string, random: string): string {
  return createHash('sha256').update(`${random}${account}`).digest('hex').slice(0, 12);
}

/** Returns the name of an account's folder, which does not reveal the account. */
export function folderOf(account: string): string {
  return createHash('sha256').update(account).digest('hex').slice(0, 32);
}
