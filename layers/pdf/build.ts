import { copyFile, glob, mkdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type CompileRequest, compile, compilerRecipe } from '../build/compile.ts';
import { copyLibraries } from '../build/libraries.ts';
import { writeManifest } from '../build/manifest.ts';
import { platform } from '../build/platform.ts';
import { type BuildOptions, buildOnce, cacheOf, recipeOf } from '../build/product.ts';
import { unpackPackages } from '../debian/apt.ts';
import { SANDBOX_SOURCES } from '../sandbox/build.ts';
import { PINS } from './pins.ts';

const HERE = import.meta.dirname;
const SANDBOX = join(HERE, '../sandbox');
const MESSAGE = join(HERE, '../build/host');

/** Programs of this layer by the folder of their sources, and the libraries they call. */
export const PROGRAMS = {
  qpdf: ['libqpdf.so.30', 'libyyjson.so.0'],
  pdfium: ['libpdfiumlo.so', 'libjpeg.so.62', 'libdeflate.so.0', 'libtiff.so.6', 'libyyjson.so.0'],
} as const;

/** Builds the native PDF engines: `program/`, `lib/` with their own loader, `manifest.json`, `licenses/`. */
export async function build(options: BuildOptions): Promise<void> {
  const folders = [HERE, ...Object.keys(PROGRAMS).map((name) => join(HERE, name)), SANDBOX, MESSAGE];
  const recipe = await Promise.all([...folders.map(recipeOf), compilerRecipe()]);
  await buildOnce(options, recipe, async (directory) => {
    const { progress } = options;
    const cache = join(cacheOf(options.into), 'apt');
    const [unpacked, scratch] = [join(directory, 'unpacked'), join(directory, 'headers')];
    const all = join(unpacked, 'usr/lib', platform().triplet);
    const { suite, packages, pdfium, headers } = PINS;
    const unpack = { suite, into: unpacked, cache, progress };
    const found = await unpackPackages({ ...unpack, packages });
    found.push(...(await unpackPackages({ ...unpack, packages: [pdfium.package], dependencies: false })));
    await copyFile(join(unpacked, pdfium.path), join(all, basename(pdfium.path)));

    const { triplet } = platform();
    await unpackPackages({ ...unpack, packages: headers, dependencies: false, into: scratch });
    const include = [SANDBOX, MESSAGE, ...['', triplet].map((name) => join(scratch, 'usr/include', name))];
    const compiling = { include, cache, progress };
    progress('Compiling the PDF hosts');
    await replaceIcuData(all, compiling);
    await mkdir(join(directory, 'program'));
    for (const [name, libraries] of Object.entries(PROGRAMS)) {
      await compile({
        ...compiling,
        sources: await sourcesOf(name),
        libraries: libraries.map((library) => join(all, library)),
        output: join(directory, 'program', name),
      });
    }
    const programs = Object.keys(PROGRAMS).map((name) => join(directory, 'program', name));
    await copyLibraries(programs, { unpacked, into: join(directory, 'lib') });
    await writeManifest({ packages: found, unpacked, into: directory });
    await rm(unpacked, { recursive: true });
    await rm(scratch, { recursive: true });
  });
}

/** Replaces the 30 MB of ICU data, none of which PDFium uses. */
async function replaceIcuData(
  folder: string,
  compiling: Pick<CompileRequest, 'cache' | 'progress'>,
): Promise<void> {
  for await (const sharedName of glob('libicudata.so.+([0-9])', { cwd: folder })) {
    const output = join(folder, sharedName);
    await rm(output);
    await compile({
      ...compiling,
      sources: [join(HERE, 'icudata.c')],
      sharedName,
      flags: [`-DICU_DATA=icudt${sharedName.slice('libicudata.so.'.length)}_dat`],
      output,
    });
  }
}

/** Returns the source files of a program. */
export async function sourcesOf(program: string): Promise<string[]> {
  const folder = join(HERE, program);
  const names: string[] = [];
  for await (const name of glob('*.c', { cwd: folder })) names.push(name);
  return [...names.sort().map((name) => join(folder, name)), join(MESSAGE, 'message.c'), ...SANDBOX_SOURCES];
}
