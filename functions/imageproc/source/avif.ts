/** Returns an AVIF whose main brand says that it is a sequence as a still image, its first one: libvips reads only those. */
export function stillAvif(bytes: Buffer): Buffer {
  if (bytes.toString('latin1', 8, 12) !== 'avis') return bytes;
  const still = Buffer.from(bytes);
  still.write('avif', 8, 'latin1');
  return still;
}
