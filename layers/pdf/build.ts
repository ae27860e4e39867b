import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { compile } from '../build/compile.ts';
import { copyLibraries } from '../build/libraries.ts';
import { writeManifest } from '../build/manifest.ts';
import { platform } from '../build/platform.ts';
import { type BuildOptions, buildOnce, cacheOf, recipeOf } from '../build/product.ts';
import { unpackPackages } from '../debian/apt.ts';
import { PINS } from './pins.ts';

const HERE = import.meta.dirname;
const SANDBOX = join(HERE, '../sandbox');
const HOST = join(HERE, '../build/host');

/** Builds the native PDF engines: `program/`, `lib/` with their own loader, `manifest.json`, `licences/`. */
export async function build(options: BuildOptions): Promise<void> {
  const recipe = await Promise.all([HERE, SANDBOX, HOST].map(recipeOf));
  await buildOnce(options, recipe, async (directory) => {
    const { progress } = options;
    const { suite, packages: names, headers } = PINS;
    const cache = join(cacheOf(options.into), 'apt');
    const [unpacked, scratch] = [join(directory, 'unpacked'), join(directory, 'compiler')];
    const packages = await unpackPackages({ packages: names, suite, into: unpacked, cache, progress });

    progress('Compiling the PDF hosts');
    await mkdir(join(directory, 'program'));
    const qpdf = join(directory, 'program/qpdf');
    await compile({
      sources: [join(HERE, 'qpdf.c'), join(HOST, 'message.c'), join(SANDBOX, 'sandbox.c')],
      headers: { packages: headers, folders: [SANDBOX, HOST] },
      libraries: ['libqpdf.so.30'].map((name) => join(unpacked, 'usr/lib', platform().triplet, name)),
      output: qpdf,
      scratch,
      cache,
      progress,
    });
    await copyLibraries([qpdf], { unpacked, into: join(directory, 'lib') });
    await writeManifest({ packages, unpacked, into: directory });
    await rm(unpacked, { recursive: true });
    await rm(scratch, { recursive: true });
  });
}
