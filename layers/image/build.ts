import { buildNpmLayer } from '../build/npm.ts';
import { type BuildOptions, recipeOf } from '../build/product.ts';
import { PINS } from './pins.ts';

/** Builds the packages that read, edit and write images: `node_modules/`, `manifest.json`. */
export async function build(options: BuildOptions): Promise<void> {
  await buildNpmLayer(options, PINS, await recipeOf(import.meta.dirname));
}
