import { buildNpmLayer, type NpmPins } from '../build/npm.ts';
import { type BuildOptions, recipeOf } from '../build/product.ts';

/** Builds the fallback renderer for PDF pages: `node_modules/`, `manifest.json`. */
export async function build(options: BuildOptions): Promise<void> {
  await buildNpmLayer(options, PINS, await recipeOf(import.meta.dirname));
}

/** The package of pdf.js. Versions are in `package-lock.json`. */
const PINS: NpmPins = {
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
