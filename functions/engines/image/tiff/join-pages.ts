import { type Entry, TiffReader } from './directory.ts';

/** Tags whose values are positions in the file: strips, tiles, free space, tables of old JPEG compression. */
const POSITION_TAGS = new Set([273, 324, 288, 513]);

/**
 * Joins TIFF files of one page each into one file. libvips writes several pages only if all have the same size and type.
 * Expects little-endian classic TIFF, as libvips writes on all supported machines.
 */
export function joinTiffPages(pages: readonly Buffer[]): Buffer {
  const parts: Buffer[] = [];
  let position = 0;
  let link: { readonly part: Buffer; readonly at: number } | undefined;
  for (const page of pages) {
    const part = movePage(page, position);
    const reader = new TiffReader(page);
    const first = reader.long(4);
    link?.part.writeUInt32LE(position + first, link.at);
    link = { part, at: reader.directory(first).nextPosition };
    parts.push(part);
    position += part.length;
  }
  return Buffer.concat(parts);
}

/** Returns a copy of a page whose positions are moved by `by`. Its length is even, as positions in a TIFF must be. */
function movePage(page: Buffer, by: number): Buffer {
  const reader = new TiffReader(page);
  if (!reader.littleEndian) throw new RangeError('Expected a little-endian TIFF.');
  const part = Buffer.alloc(page.length + (page.length % 2));
  page.copy(part);
  const added: Buffer[] = [];
  let end = part.length;
  for (const entry of reader.directory().entries) {
    if (POSITION_TAGS.has(entry.tag)) {
      const list = movedPositions(reader, entry, by);
      part.writeUInt16LE(4, entry.position + 2);
      if (entry.count === 1) list.copy(part, entry.position + 8);
      else {
        part.writeUInt32LE(end + by, entry.position + 8);
        added.push(list);
        end += list.length;
      }
    } else if (entry.valuePosition !== entry.position + 8) {
      part.writeUInt32LE(entry.valuePosition + by, entry.position + 8);
    }
  }
  return Buffer.concat([part, ...added]);
}

/** Returns a list of positions as 32-bit integers, moved by `by`. */
function movedPositions(reader: TiffReader, { type, count, valuePosition }: Entry, by: number): Buffer {
  const list = Buffer.alloc(count * 4);
  for (let index = 0; index < count; index += 1) {
    const value =
      type === 3 ? reader.short(valuePosition + index * 2) : reader.long(valuePosition + index * 4);
    list.writeUInt32LE(value + by, index * 4);
  }
  return list;
}
