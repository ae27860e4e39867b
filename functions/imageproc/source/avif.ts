/** Converts an AVIF sequence to a still image of its first frame, because libvips reads only still images. */
export function stillAvif(bytes: Buffer): Buffer {
  if (bytes.toString('latin1', 8, 12) !== 'avis') return bytes;
  const still = Buffer.from(bytes);
  still.write('avif', 8, 'latin1');
  return still;
}
