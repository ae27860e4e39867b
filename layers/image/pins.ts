import type { NpmPins } from '../build/npm.ts';

/** The target platform, and the files that are used from the packages. Versions are in `package-lock.json`. */
export const PINS: NpmPins = {
  cpu: 'x64',
  libc: 'glibc',
  packages: ['sharp', 'libheif-js'],
  native: ['@img/sharp-linux-x64', '@img/sharp-libvips-linux-x64'],
  unwanted: [
    /\.(map|md|d\.[cm]?ts)$/,
    /^sharp\/(src|install)\//,
    // Only its single-file WebAssembly build is used.
    /^libheif-js\/libheif\/libheif\.js$/,
    /^libheif-js\/libheif-wasm\/(libheif\.(js|wasm)|libheif-bundle\.mjs)$/,
    /^@img\/sharp-libvips-[^/]+\/(lib\/glib-2\.0|include)\//,
  ],
};
