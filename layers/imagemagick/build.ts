import { copyFile, cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compile, compilerRecipe } from '../build/compile.ts';
import { copyLibraries } from '../build/libraries.ts';
import { writeManifest } from '../build/manifest.ts';
import { platform } from '../build/platform.ts';
import { type BuildOptions, buildOnce, cacheOf, recipeOf } from '../build/product.ts';
import { unpackPackages } from '../debian/apt.ts';
import { SANDBOX_SOURCES } from '../sandbox/build.ts';
import { PINS } from './pins.ts';
import { policy } from './policy.ts';

const HERE = import.meta.dirname;
const SANDBOX = join(HERE, '../sandbox');
const MESSAGE = join(HERE, '../build/host');

/** Empty configuration files, in place of those that name a system's programs, fonts and folders. */
const EMPTY = {
  'delegates.xml': 'delegatemap',
  'log.xml': 'logmap',
  'mime.xml': 'mimemap',
  'type.xml': 'typemap',
} as const;

/** Builds ImageMagick: `program/`, `lib/` with its own loader, `coders/`, `config/`, `heif/`, `manifest.json`, `licenses/`. */
export async function build(options: BuildOptions): Promise<void> {
  const recipe = await Promise.all([...[HERE, SANDBOX, MESSAGE].map(recipeOf), compilerRecipe()]);
  await buildOnce(options, recipe, async (directory) => {
    const { progress } = options;
    const cache = join(cacheOf(options.into), 'apt');
    const [unpacked, scratch] = [join(directory, 'unpacked'), join(directory, 'headers')];
    const all = join(unpacked, 'usr/lib', platform().triplet);
    const { suite, packages, headers, version, libraries } = PINS;
    const unpack = { suite, cache, progress };
    const found = await unpackPackages({ ...unpack, packages, into: unpacked });
    await unpackPackages({ ...unpack, packages: headers, dependencies: false, into: scratch });

    progress('Compiling the host of ImageMagick');
    await mkdir(join(directory, 'program'));
    const program = join(directory, 'program/imagemagick');
    await compile({
      sources: [join(HERE, 'main.c'), join(MESSAGE, 'message.c'), ...SANDBOX_SOURCES],
      include: [SANDBOX, MESSAGE, ...includeFolders(scratch)],
      libraries: libraries.map((library) => join(all, library)),
      flags: ['-DMAGICKCORE_QUANTUM_DEPTH=16', '-DMAGICKCORE_HDRI_ENABLE=0'],
      output: program,
      cache,
      progress,
    });
    const magick = join(all, `ImageMagick-${version}`);
    const modules = await copyModules(join(magick, 'modules-Q16/coders'), join(directory, 'coders'));
    await cp(join(all, 'libheif/plugins'), join(directory, 'heif'), { recursive: true, dereference: true });
    const plugins = ['libde265', 'dav1d'].map((name) => join(directory, `heif/libheif-${name}.so`));
    await copyLibraries([program, ...modules, ...plugins], { unpacked, into: join(directory, 'lib') });
    await writeConfiguration(join(unpacked, 'etc/ImageMagick-7'), join(directory, 'config'));
    await writeManifest({ packages: found, unpacked, into: directory });
    await rm(unpacked, { recursive: true });
    await rm(scratch, { recursive: true });
  });
}

function includeFolders(scratch: string): string[] {
  const include = join(scratch, 'usr/include');
  return [include, join(include, 'ImageMagick-7'), join(include, platform().triplet, 'ImageMagick-7')];
}

/** Copies the modules of the listed formats, and returns their paths. */
async function copyModules(from: string, into: string): Promise<string[]> {
  await mkdir(into);
  const names = Object.keys(PINS.coders);
  for (const name of names) {
    await copyFile(join(from, `${name}.la`), join(into, `${name}.la`));
    await copyFile(join(from, `${name}.so`), join(into, `${name}.so`));
  }
  return names.map((name) => join(into, `${name}.so`));
}

async function writeConfiguration(from: string, into: string): Promise<void> {
  await mkdir(into);
  for (const name of ['colors.xml', 'quantization-table.xml', 'thresholds.xml']) {
    await copyFile(join(from, name), join(into, name));
  }
  for (const [name, root] of Object.entries(EMPTY)) {
    await writeFile(join(into, name), `<?xml version="1.0"?>\n<${root}>\n</${root}>\n`);
  }
  await writeFile(join(into, 'policy.xml'), policy());
}
