import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';

/** Permission to store the results of one conversion below one prefix. Only the storage that issued it can read it. */
export type Grant = Readonly<Record<string, unknown>>;

/** Object keys of results of demo conversions start with this, so that they can be deleted sooner. */
export const DEMO_PREFIX = 'demo/';

export interface GrantRequest {
  readonly prefix: string;
  readonly maxBytes: number;
  /** Milliseconds for which files may be stored. */
  readonly lifetime: number;
  readonly contentType: string;
  /** The account that the results are stored for. */
  readonly account: string;
}

/** The router's side: issues grants and signs URLs. */
export interface Storage {
  /**
   * Allows `put` below `prefix` (ends in a slash) for `lifetime`, at most `maxBytes` per object and of one media type:
   * `FORMATS[format].contentType`, or `application/zip` for an archive.
   */
  grant(request: GrantRequest): Promise<Grant>;
  /** Returns the presigned URL of an object, valid for the configured lifetime. */
  url(objectKey: string): Promise<string>;
  /**
   * Opens a stored result, with the headers that describe it: its type, length and name. Absent where the server of the URLs is this
   * process.
   */
  open?(objectKey: string, signal: AbortSignal): Promise<OpenedResult>;
  /** Seconds. */
  readonly urlLifetime?: number;
}

export interface OpenedResult {
  readonly headers: Readonly<Record<string, string>>;
  readonly content: Readable;
}

export interface StoredFile {
  /** File on disk; `put` may move it away. */
  readonly path: string;
  /** The last part of the object key. */
  readonly name: string;
  readonly contentType: string;
  /** Bytes of the file. */
  readonly bytes: number;
  /** Page of the document, for a file per page. */
  readonly page?: number;
}

/** The tool's side: stores one file under a grant and returns its object key. */
export type Put = (grant: Grant, file: StoredFile, signal: AbortSignal) => Promise<string>;

/** Returns the name of an account's folder, which does not tell the account. */
export function folderOf(account: string): string {
  return createHash('sha256').update(account).digest('hex').slice(0, 32);
}
