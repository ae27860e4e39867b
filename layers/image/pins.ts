import type { NpmPins } from '../build/npm.ts';

/** The target platform, and the files to use from the packages. Versions are in `package-lock.json`. */
export const PINS: NpmPins = {
  cpu: 'x64',
  libc: 'glibc',
  packages: ['sharp'],
  native: ['@img/sharp-linux-x64', '@img/sharp-libvips-linux-x64'],
  unwanted: [
    /\.(map|md|d\.[cm]?ts)$/,
    /^sharp\/(src|install)\//,
    /^@img\/sharp-libvips-[^/]+\/(lib\/glib-2\.0|include)\//,
  ],
};
