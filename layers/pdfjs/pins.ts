import type { NpmPins } from '../build/npm.ts';

/** Versions are those of `package-lock.json`; for whom, and what of the packages is taken. */
export const PINS: NpmPins = {
  cpu: 'x64',
  libc: 'glibc',
  packages: ['@hyzyla/pdfium', 'pdf-to-img'],
  native: ['@napi-rs/canvas-linux-x64-gnu', '@napi-rs/canvas'],
  unwanted: [
    /\.(map|md|d\.[cm]?ts)$/,
    /^@hyzyla\/pdfium\/dist\/(index\.cjs|index\.esm\.(base64|browser|cdn|worker)|pdfium\.wasm\.base64|worker)/,
    /^pdf-to-img\/bin\//,
    /^pdfjs-dist\/(build|image_decoders|types|web|webpack\.mjs|legacy\/(web|image_decoders))(\/|$)/,
    /^pdfjs-dist\/legacy\/build\/.*(\.min\.mjs|sandbox\.mjs)$/,
    /^pdfjs-dist\/wasm\/(quickjs-eval|.*_nowasm_fallback)/,
  ],
};
