import { buildNpmLayer } from '../build/npm.ts';
import { type BuildOptions, recipeOf } from '../build/product.ts';
import { PINS } from './pins.ts';

/** Builds the fallback renderer for PDF pages: `node_modules/`, `manifest.json`. */
export async function build(options: BuildOptions): Promise<void> {
  await buildNpmLayer(options, PINS, await recipeOf(import.meta.dirname));
}
