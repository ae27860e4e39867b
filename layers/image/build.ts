import { buildNpmLayer, type NpmPins } from '../build/npm.ts';
import { type BuildOptions, recipeOf } from '../build/product.ts';

/** Builds the packages that read, edit and write images: `node_modules/`, `manifest.json`. */
export async function build(options: BuildOptions): Promise<void> {
  await buildNpmLayer(options, PINS, await recipeOf(import.meta.dirname));
}

/** The target platform, and the files to use from the packages. Versions are in `package-lock.json`. */
const PINS: NpmPins = {
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
