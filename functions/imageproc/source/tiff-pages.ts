import { type Directory, TiffReader } from './tiff-reader.ts';

/**
 * Returns a function that makes one page of a TIFF, counted from 0, the only page of the file. libvips reads the
 * directories of all pages whenever it opens a file, which takes a minute for 2,000 pages. The bytes change in place,
 * so the previous page must already be decoded. Returns `undefined` if the file does not have `count` distinct pages.
 */
export function pageSelector(bytes: Buffer, count: number): ((page: number) => void) | undefined {
  try {
    const reader = new TiffReader(bytes);
    const write = (position: number, value: number) =>
      reader.littleEndian ? bytes.writeUInt32LE(value, position) : bytes.writeUInt32BE(value, position);
    const pages: Omit<Directory, 'entries'>[] = [];
    for (const { position, nextPosition, next } of reader.directories()) {
      // The list of pages is circular.
      if (pages.length === count) return undefined;
      pages.push({ position, nextPosition, next });
    }
    if (pages.length !== count) return undefined;
    let last = pages[0]!;
    return (page) => {
      write(last.nextPosition, last.next);
      last = pages[page]!;
      write(4, last.position);
      write(last.nextPosition, 0);
    };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
