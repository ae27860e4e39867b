import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { compile } from '../build/compile.ts';
import { writeManifest } from '../build/manifest.ts';
import { type BuildOptions, buildOnce, cacheOf, recipeOf } from '../build/product.ts';

/** Builds the sandbox launcher: `enter`, `manifest.json` of the libraries linked into it, `licences/`. */
export async function build(options: BuildOptions): Promise<void> {
  await buildOnce(options, await recipeOf(import.meta.dirname), async (directory) => {
    const scratch = join(directory, 'compiler');
    const packages = await compile({
      sources: ['enter.c', 'sandbox.c'].map((name) => join(import.meta.dirname, name)),
      // Statically linked, so that it runs wherever Node does.
      ownStart: true,
      output: join(directory, 'enter'),
      scratch,
      cache: join(cacheOf(options.into), 'apt'),
      progress: options.progress,
    });
    const linked = packages.filter(({ name }) => name === 'tcc' || name === 'libc6-dev');
    await writeManifest({ packages: linked, unpacked: scratch, into: directory });
    await rm(scratch, { recursive: true });
  });
}
