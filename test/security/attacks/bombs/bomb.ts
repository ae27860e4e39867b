import { deflateSync } from 'node:zlib';

/** A small source that expands to a large one. */
export interface Bomb {
  readonly name: string;
  readonly app: string;
  readonly options?: Readonly<Record<string, string>>;
  bytes(): Promise<Buffer> | Buffer;
}
/** Deflates megabytes of zeros. */
export const zeros = (megabytes: number) => deflateSync(Buffer.alloc(megabytes * 1e6), { level: 9 });

/** Joins what a function returns for each level. */
export const nested = (levels: number, each: (level: number) => string) =>
  Array.from({ length: levels }, (_, level) => each(level)).join('');
