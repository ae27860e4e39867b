import { createRequire } from 'node:module';

const { resolve } = createRequire(import.meta.url);

/**
 * Returns the path of a file in an npm package, such as `pdfjs-dist/package.json`. The bundler for AWS replaces this
 * module, because on AWS packages are in layers.
 */
export function packageFile(specifier: string): string {
  return resolve(specifier);
}
