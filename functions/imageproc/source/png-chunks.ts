const SIGNATURE_BYTES = 8;

/** Yields the chunks of a PNG that precede its pixels. Stops at a truncated chunk. */
export function* pngHeaderChunks(bytes: Buffer): Generator<{ type: string; data: Buffer }> {
  for (let at = SIGNATURE_BYTES; at + 8 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (type === 'IDAT' || at + 12 + length > bytes.length) return;
    yield { type, data: bytes.subarray(at + 8, at + 8 + length) };
    at += 12 + length;
  }
}

/**
 * Whether libvips would ignore parts of a PNG: its gamma (as in ImageMagick, a gamma above 0.75 without a color
 * profile means linear colors), or EXIF data that ImageMagick and others write into a text chunk.
 */
export function isUnusualPng(bytes: Buffer): boolean {
  const chunks = [...pngHeaderChunks(bytes)];
  const has = (...types: readonly string[]) => chunks.some(({ type }) => types.includes(type));
  const gamma =
    chunks.find(({ type, data }) => type === 'gAMA' && data.length === 4)?.data.readUInt32BE(0) ?? 0;
  const isLinear = gamma > 75_000 && !has('sRGB', 'iCCP', 'cICP');
  const isText = ({ type, data }: { type: string; data: Buffer }) =>
    /^[zt][TE][EX]t$/.test(type) && /^Raw profile type (exif|APP1)\0/.test(data.toString('latin1', 0, 30));
  return isLinear || (!has('eXIf') && chunks.some(isText));
}
