import type { Size } from '../../shared/options/parameters.ts';
import type { Resolution } from '../options/readers.ts';
import type { Pixels } from '../pixels.ts';
import { readBmp } from './bmp.ts';
import { readHeic } from './heic.ts';
import { readIco } from './ico.ts';
import { readPsd } from './psd.ts';

/** An image in a format that libvips does not read. */
export interface Foreign extends Size {
  readonly frames: number;
  readonly icc?: Buffer;
  readonly density?: Resolution;
  decode(frame: number): Promise<Pixels> | Pixels;
}

type Reader = (bytes: Buffer, maxPixels: number) => Promise<Foreign> | Foreign;

/** Readers check the size against the limit before they decode. */
const READERS = { bmp: readBmp, ico: readIco, psd: readPsd, heic: readHeic } as const satisfies Record<
  string,
  Reader
>;

export type ForeignKind = keyof typeof READERS;

export function isForeign(kind: string): kind is ForeignKind {
  return Object.hasOwn(READERS, kind);
}

/** Reads the header of a file. Damaged files throw errors of any type. */
export async function readForeign(kind: ForeignKind, bytes: Buffer, maxPixels: number): Promise<Foreign> {
  return READERS[kind](bytes, maxPixels);
}
