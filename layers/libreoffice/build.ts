import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compile, compilerRecipe } from '../build/compile.ts';
import { writeManifest } from '../build/manifest.ts';
import { platform } from '../build/platform.ts';
import { type BuildOptions, buildOnce, cacheOf, recipeOf } from '../build/product.ts';
import { unpackPackages } from '../debian/apt.ts';
import { SANDBOX_SOURCES } from '../sandbox/build.ts';
import { arrange } from './arrange.ts';
import { PINS } from './pins.ts';

const HERE = import.meta.dirname;
const SANDBOX = join(HERE, '../sandbox');
const HOST = join(HERE, '../build/host');
/** Library that parses the requests to the host. */
export const READER = 'libyyjson.so.0';
/** The source files of the host. */
export const SOURCES = [join(HERE, 'host.c'), join(HOST, 'message.c'), ...SANDBOX_SOURCES];

/** Builds LibreOffice and its warm host: `program/` (with `host`), `share/`, `lib/`, `manifest.json`, `licenses/`. */
export async function build(options: BuildOptions): Promise<void> {
  const recipe = await Promise.all([...[HERE, SANDBOX, HOST].map(recipeOf), compilerRecipe()]);
  await buildOnce(options, recipe, async (directory) => {
    const { progress } = options;
    const cache = join(cacheOf(options.into), 'apt');
    const unpacked = join(directory, 'unpacked');
    const headers = join(directory, 'headers');

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
    await copyFile(join(unpacked, 'usr/lib', platform().triplet, READER), join(directory, 'lib', READER));
    progress('Compiling the LibreOffice host');
    await unpackHeaders({ into: headers, cache, progress });
    await compile({
      sources: SOURCES,
      include: [SANDBOX, HOST, join(headers, 'usr/include')],
      libraries: [join(directory, 'lib', READER)],
      output: join(directory, 'program/host'),
      cache,
      progress,
    });
    await writeManifest({ packages, unpacked, into: directory });
    await rm(unpacked, { recursive: true });
    await rm(headers, { recursive: true });
  });
}

/** Unpacks the headers that the host is compiled against. */
export async function unpackHeaders(request: {
  readonly into: string;
  readonly cache: string;
  progress(text: string): void;
}): Promise<void> {
  await unpackPackages({ packages: PINS.headers, suite: PINS.suite, dependencies: false, ...request });
  await makeValidC(join(request.into, 'usr/include/LibreOfficeKit/LibreOfficeKitEnums.h'));
}

/** Removes C++ syntax from a function in LibreOfficeKit's header for C. */
async function makeValidC(header: string): Promise<void> {
  const text = await readFile(header, 'utf8');
  const valid = text.replace('static_cast<LibreOfficeKitCallbackType>(nType)', 'nType');
  await writeFile(header, valid.replace('return nullptr;', 'return 0;'));
}
