import type { NpmPins } from '../build/npm.ts';

/** The package of pdf.js. Versions are in `package-lock.json`. */
export const PINS: NpmPins = {
  cpu: 'x64',
  libc: 'glibc',
  packages: ['pdf-to-img'],
  native: ['@napi-rs/canvas-linux-x64-gnu', '@napi-rs/canvas'],
  unwanted: [
    /\.(map|md|d\.[cm]?ts)$/,
    /^pdf-to-img\/bin\//,
    /^pdfjs-dist\/(build|image_decoders|types|web|webpack\.mjs|legacy\/(web|image_decoders))(\/|$)/,
    /^pdfjs-dist\/legacy\/build\/.*(\.min\.mjs|sandbox\.mjs)$/,
    /^pdfjs-dist\/wasm\/(quickjs-eval|.*_nowasm_fallback)/,
  ],
};
