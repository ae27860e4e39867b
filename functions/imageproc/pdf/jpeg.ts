/** Yields the segments of a JPEG before its image data. */
function* segments(bytes: Buffer): Generator<readonly [marker: number, content: Buffer]> {
  for (let at = 2; at + 4 < bytes.length && bytes[at] === 0xff; at += 2 + bytes.readUInt16BE(at + 2)) {
    if (bytes[at + 1] === 0xda) return;
    yield [bytes[at + 1]!, bytes.subarray(at + 4, at + 2 + bytes.readUInt16BE(at + 2))];
  }
}

/** Whether a JPEG has an APP14 segment of Adobe. */
export function hasAdobeMarker(bytes: Buffer): boolean {
  return [...segments(bytes)].some(([marker, content]) => marker === 0xee && content.indexOf('Adobe') === 0);
}

/** Whether viewers of PDFs read a JPEG: it is baseline, extended or progressive, and not compressed arithmetically. */
export function isDct(bytes: Buffer): boolean {
  return [...segments(bytes)].some(
    ([marker, content]) => marker >= 0xc0 && marker <= 0xc2 && content[0] === 8,
  );
}
