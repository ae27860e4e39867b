import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buildOnce, cacheOf } from '../../layers/build/product.ts';
import { unpackPackages } from '../../layers/debian/apt.ts';
import { arrange } from '../../layers/libreoffice/arrange.ts';
import { PINS } from '../../layers/libreoffice/pins.ts';

/** Every module, filter and dialog, with the graphical interface. Then, as in the layer, a locale for file names. */
const PACKAGES = ['libreoffice', 'libc-bin'];

/**
 * Unpacks a complete LibreOffice of the layer's suite for comparison, without installing it, and returns its folder.
 * Fonts are left out, because both sides use the fonts layer.
 */
export async function buildCompleteOffice(progress: (text: string) => void): Promise<string> {
  const into = join(import.meta.dirname, '../../dist/test/soffice');
  await buildOnce({ into, progress }, { suite: PINS.suite, packages: PACKAGES }, async (directory) => {
    const unpacked = join(directory, 'unpacked');
    await unpackPackages({
      packages: PACKAGES,
      suite: PINS.suite,
      keep: (name) => !name.startsWith('fonts-'),
      into: unpacked,
      cache: join(cacheOf(into), 'apt'),
      progress,
    });
    await arrange(unpacked, directory, { complete: true });
    await rm(unpacked, { recursive: true });
  });
  return into;
}
