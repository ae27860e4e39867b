import type { Readable } from 'node:stream';
import type { Parameter } from '../../shared/options/option.ts';

/** A file in the body of a request. */
export interface FilePart {
  /** Name of the field: `infile` or `asset`. */
  readonly name: string;
  /** File name as the caller sent it, possibly with a path. May be empty. */
  readonly fileName: string;
  /** Media type. May be empty. */
  readonly contentType: string;
  readonly content: Readable;
}

/** A part of the body of a request: a parameter or a file. */
export type Part = Parameter | FilePart;

/** Maximum bytes of all parameters in a body. */
export const MAX_FIELD_BYTES = 1_000_000;

export function isFile(part: Part): part is FilePart {
  return 'content' in part;
}
