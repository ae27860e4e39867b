import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { ConversionError } from '../shared/errors.ts';
import { folderOf } from './storage.ts';

/** Object keys of uploads start with this, so that they can be deleted sooner than results. */
export const UPLOAD_PREFIX = 'uploads/';

/** Milliseconds for which an upload is kept at least, unless it is removed. */
export const UPLOAD_LIFETIME = 3_600_000;

/** Where an upload is stored, and how large it may be. */
export interface UploadTarget {
  readonly objectKey: string;
  readonly account: string;
  readonly maxBytes: number;
}

/** A source that a caller sends, as it arrives. */
export interface Upload extends UploadTarget {
  readonly content: Readable;
}

/** A multipart form that stores one file without an API key. The file is its last part, named `file`. */
export interface UploadForm {
  readonly url: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** The router's side of uploads. Conversions read them by the presigned URL of the storage, like any other source. */
export interface Uploads {
  /**
   * Stores an upload while it arrives and returns its size. Nothing is left of one that fails.
   * @throws ConversionError `SOURCE_TOO_LARGE`, `QUOTA_EXCEEDED`, and the errors of its stream.
   */
  receive(upload: Upload, signal: AbortSignal): Promise<number>;
  /** Returns a form for an upload, valid for `UPLOAD_LIFETIME`. */
  form(target: UploadTarget): Promise<UploadForm>;
  /**
   * Returns what a form was made for, from its fields. Absent where the storage receives forms itself.
   * @throws ConversionError `BAD_PARAMETER`
   */
  readForm?(fields: ReadonlyMap<string, string>): UploadTarget;
  /** Whether an upload was stored and has not expired. */
  exists(objectKey: string): Promise<boolean>;
  /** Deletes an upload if it exists. */
  remove(upload: Pick<Upload, 'objectKey' | 'account'>): Promise<void>;
}

/** The error for an `infile` whose upload is not there. */
export function uploadGone(): ConversionError {
  return new ConversionError('SOURCE_STATUS', 'The upload does not exist or has expired.');
}

const ID = /^[0-9a-f]{32}\/[\p{L}\p{N} ._-]{1,100}$/u;

/** Creates the ID of an upload: 128 random bits and its cleaned file name. */
export function createUploadId(fileName: string): string {
  const cleaned = fileName
    .split(/[/\\]/)
    .at(-1)!
    .replace(/[^\p{L}\p{N} ._-]/gu, '_');
  // Whole characters, some of which take two places of a string.
  const name = [...cleaned].slice(-100).join('').trim();
  return `${randomBytes(16).toString('hex')}/${name.replace(/^\.+/, '') || 'source'}`;
}

/** Whether a text has the form of an ID. */
export function isUploadId(text: string): boolean {
  return ID.test(text);
}

/** Returns the object key of an upload. It contains the account, so that an ID is of no use to another one. */
export function uploadKeyOf(account: string, id: string): string {
  return `${UPLOAD_PREFIX}${folderOf(account)}/${id}`;
}
