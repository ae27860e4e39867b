import { copyFile, glob, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { buildNative, copyLibraries, MESSAGE_SOURCE, type NativeBuild } from '../build/native.ts';
import { type BuildOptions, platform } from '../build/product.ts';
import { unpackPackages } from '../debian/apt.ts';
import { SANDBOX_SOURCES } from '../sandbox/build.ts';
import { PINS } from './pins.ts';

const HERE = import.meta.dirname;

/** Programs of this layer by the folder of their sources, and the libraries they call. */
export const PROGRAMS = {
  qpdf: ['libqpdf.so.30', 'libyyjson.so.0'],
  pdfium: [
    'libpdfiumlo.so',
    'libjpeg.so.62',
    'libdeflate.so.0',
    'libtiff.so.6',
    'libyyjson.so.0',
    'libm.so.6',
  ],
} as const;

/** Builds the native PDF engines: `program/`, `lib/` with their own loader, `manifest.json`, `licenses/`. */
export async function build(options: BuildOptions): Promise<void> {
  const folders = [HERE, ...Object.keys(PROGRAMS).map((name) => join(HERE, name))];
  await buildNative(options, folders, async (build) => {
    const { directory, unpacked, libraries: all, headers: scratch, unpacking } = build;
    const { suite, packages, pdfium, headers } = PINS;
    const unpack = { ...unpacking, suite, into: unpacked };
    const found = await unpackPackages({ ...unpack, packages });
    found.push(...(await unpackPackages({ ...unpack, packages: [pdfium.package], dependencies: false })));
    await copyFile(join(unpacked, pdfium.path), join(all, basename(pdfium.path)));
    await unpackPackages({ ...unpack, packages: headers, dependencies: false, into: scratch });

    options.progress('Compiling the PDF engines');
    await replaceIcuData(build);
    const include = ['', platform().triplet].map((name) => join(scratch, 'usr/include', name));
    for (const [name, libraries] of Object.entries(PROGRAMS)) {
      await build.compile({
        sources: await sourcesOf(name),
        include,
        libraries: libraries.map((library) => join(all, library)),
        output: join(directory, 'program', name),
      });
    }
    const programs = Object.keys(PROGRAMS).map((name) => join(directory, 'program', name));
    await copyLibraries(programs, { unpacked, into: join(directory, 'lib') });
    return found;
  });
}

/** Replaces the 30 MB of ICU data, none of which PDFium uses. */
async function replaceIcuData({ libraries: folder, compile }: NativeBuild): Promise<void> {
  for await (const sharedName of glob('libicudata.so.+([0-9])', { cwd: folder })) {
    const output = join(folder, sharedName);
    await rm(output);
    await compile({
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
  return [...names.sort().map((name) => join(folder, name)), MESSAGE_SOURCE, ...SANDBOX_SOURCES];
}
