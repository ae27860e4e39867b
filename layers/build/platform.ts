/** Debian's folder of libraries and the loader in it, by Node's name of the processor. */
const PLATFORM = {
  x64: { triplet: 'x86_64-linux-gnu', loader: 'ld-linux-x86-64.so.2' },
  arm64: { triplet: 'aarch64-linux-gnu', loader: 'ld-linux-aarch64.so.1' },
} as const;

/** Answers where unpacked packages hold their libraries, and the name of their loader. */
export function platform() {
  const found = PLATFORM[process.arch as keyof typeof PLATFORM];
  if (!found) throw new Error(`Layers are built for x64 and arm64, not for ${process.arch}.`);
  return found;
}
