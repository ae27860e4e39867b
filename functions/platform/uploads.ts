import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { HOUR } from '../shared/dates.ts';
import { ConversionError } from '../shared/errors.ts';
import { folderOf } from './storage.ts';

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
