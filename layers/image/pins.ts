import type { NpmPins } from '../build/npm.ts';

/** Versions are those of `package-lock.json`; for whom, and what of the packages is taken. */
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
