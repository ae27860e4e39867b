/** Debian's library folder, the loader and its installed path, by Node's name of the architecture. */
const PLATFORM = {
  x64: {
    architecture: 'x64',
    triplet: 'x86_64-linux-gnu',
    loader: 'ld-linux-x86-64.so.2',
    interpreter: '/lib64/ld-linux-x86-64.so.2',
  },
  arm64: {
    architecture: 'arm64',
    triplet: 'aarch64-linux-gnu',
    loader: 'ld-linux-aarch64.so.1',
    interpreter: '/lib/ld-linux-aarch64.so.1',
  },
} as const;

/** Returns the library folder of unpacked packages and the name of the loader. */
export function platform() {
  const found = PLATFORM[process.arch as keyof typeof PLATFORM];
  if (!found) throw new Error(`Layers can be built for x64 and arm64, not for ${process.arch}.`);
  return found;
}
