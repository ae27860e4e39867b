import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { unpackPackages } from '../apt.ts';
import { writeManifest } from '../manifest.ts';
import { type BuildOptions, buildOnce, cacheOf, recipeOf } from '../product.ts';
import { arrange } from './arrange.ts';
import { compileHost } from './compile.ts';
import { PINS } from './pins.ts';

/** Builds LibreOffice and its warm host: `program/` (with `host`), `share/`, `lib/`, `manifest.json`, `licences/`. */
export async function build(options: BuildOptions): Promise<void> {
  await buildOnce(options, await recipeOf(import.meta.dirname), async (directory) => {
    const { progress } = options;
    const cache = join(cacheOf(options.into), 'apt');
    const unpacked = join(directory, 'unpacked');
    const scratch = join(directory, 'compiler');

    const packages = await unpackPackages({
      packages: PINS.packages,
      suite: PINS.suite,
      keep: (name) => !PINS.unwanted.test(name),
      into: unpacked,
      cache,
      progress,
    });
    progress('Arranging LibreOffice');
    await arrange(unpacked, directory);
    progress('Compiling the office host');
    await compileHost({ scratch, output: join(directory, 'program/host'), cache, progress });
    await writeManifest({ packages, unpacked, into: directory });
    await rm(unpacked, { recursive: true });
    await rm(scratch, { recursive: true });
  });
}
