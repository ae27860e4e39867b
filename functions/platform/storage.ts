import { createHash, randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { ConversionError } from '../shared/errors.ts';
import { HOUR } from '../shared/time.ts';

/**
 * Permission to store the results of one conversion below one prefix. Only the storage that issued it can read the rest of
 * it.
 */
export type Grant = Readonly<Record<string, unknown>> & { readonly prefix?: string };

/** Prefix of the object keys of demo results, so that they can be deleted sooner. */
export const DEMO_PREFIX = 'demo/';
/** Prefix of the object keys of results that are deleted once they have been sent. */
export const ONCE_PREFIX = 'once/';

/** Prefix of the object keys of bundled sources on AWS. */
export const SAMPLE_PREFIX = 'samples/';

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

/** Prefix of the object keys of uploads, so that they can be deleted sooner than results. */
export const UPLOAD_PREFIX = 'uploads/';

/** Minimum milliseconds that an upload is kept, unless it is removed. */
export const UPLOAD_LIFETIME = HOUR;

/** Where an upload is stored, and how large it may be. */
export interface UploadTarget {
  readonly objectKey: string;
  readonly account: string;
  readonly maxBytes: number;
}

/** A source that a caller is sending. */
interface Upload extends UploadTarget {
  readonly content: Readable;
}

/** A multipart form that stores one file without an API key. The file must be its last part, named `file`. */
interface UploadForm {
  readonly url: string;
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * The router's side of uploads. Conversions read uploads by a presigned URL of the storage, like any other source.
 */
export interface Uploads {
  /**
   * Stores an upload while it arrives and returns its size. A failed upload leaves nothing behind.
   * @throws ConversionError `SOURCE_TOO_LARGE`, `QUOTA_EXCEEDED`, and the errors of its stream.
   */
  receive(upload: Upload, signal: AbortSignal): Promise<number>;
  /** Returns a form for an upload, valid for `UPLOAD_LIFETIME`. */
  form(target: UploadTarget): Promise<UploadForm>;
  /**
   * Returns the target that a form was issued for, from its fields. Absent if the storage receives forms itself.
   * @throws ConversionError `BAD_PARAMETER`
   */
  readForm?(fields: ReadonlyMap<string, string>): UploadTarget;
  /** Whether an upload was stored and has not expired. */
  exists(objectKey: string): Promise<boolean>;
  /** Keeps an upload until a point in time, in epoch milliseconds. Absent if every upload is kept for a day. */
  keep?(objectKey: string, until: number): Promise<void>;
  /** Deletes an upload if it exists. */
  remove(upload: Pick<Upload, 'objectKey' | 'account'>): Promise<void>;
}

/** Returns the error for a form that the service did not issue, or whose time is over. */
export function invalidFormError(): ConversionError {
  return new ConversionError('BAD_PARAMETER', 'The form of this upload is not valid or has expired.');
}

/** Returns the error for an `infile` whose upload does not exist. */
export function uploadGoneError(): ConversionError {
  return new ConversionError('SOURCE_STATUS', 'The upload does not exist or has expired.');
}

/** Creates the ID of an upload: 128 random bits and the cleaned file name. `isUploadId` recognizes it. */
export function createUploadId(fileName: string): string {
  const cleaned = fileName
    .split(/[/\\]/)
    .at(-1)!
    .replace(/[^\p{L}\p{N} ._-]/gu, '_');
  // Counts whole characters, some of which occupy two places of a string.
  const name = [...cleaned].slice(-100).join('').trim();
  return `${randomBytes(16).toString('hex')}/${name.replace(/^\.+/, '') || 'source'}`;
}

/** Returns the object key of an upload. It contains the account, so the ID is useless to other accounts. */
export function uploadKeyOf(account: string, id: string): string {
  return `${UPLOAD_PREFIX}${folderOf(account)}/${id}`;
}
