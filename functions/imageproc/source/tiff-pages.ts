import { TiffReader } from '../../engines/image/tiff/directory.ts';

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
    const places: Array<{ position: number; nextPosition: number; next: number }> = [];
    for (let position = reader.long(4); position !== 0; ) {
      // The list of pages is circular.
      if (places.length === count) return undefined;
      const { nextPosition, next } = reader.directory(position);
      places.push({ position, nextPosition, next });
      position = next;
    }
    if (places.length !== count) return undefined;
    let last = places[0]!;
    return (page) => {
      write(last.nextPosition, last.next);
      last = places[page]!;
      write(4, last.position);
      write(last.nextPosition, 0);
    };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
