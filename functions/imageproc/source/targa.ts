const ID_LENGTH = 0;
const HEADER_BYTES = 18;
/** Positions in the footer, which starts with the positions of two optional areas in the file. */
const [FOOTER_BYTES, AREAS, SIGNATURE] = [26, [0, 4], 8];

/**
 * Returns a Targa without the text between its header and its pixels, which ImageMagick 7.1.1 reads as pixels, or
 * `undefined` if there is none.
 */
export function withoutImageId(bytes: Buffer): Buffer | undefined {
  const length = bytes[ID_LENGTH]!;
  if (length === 0) return undefined;
  const result = Buffer.concat([bytes.subarray(0, HEADER_BYTES), bytes.subarray(HEADER_BYTES + length)]);
  result[ID_LENGTH] = 0;
  const footer = result.subarray(-FOOTER_BYTES);
  if (footer.toString('latin1', SIGNATURE, SIGNATURE + 16) !== 'TRUEVISION-XFILE') return result;
  for (const at of AREAS) {
    const position = footer.readUInt32LE(at);
    if (position >= length) footer.writeUInt32LE(position - length, at);
  }
  return result;
}
