import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildNative, MESSAGE_SOURCE } from '../build/native.ts';
import type { BuildOptions } from '../build/product.ts';
import { unpackPackages } from '../debian/apt.ts';
import { SANDBOX_SOURCES } from '../sandbox/build.ts';
import { arrange } from './arrange.ts';
import { addHyphenation } from './hyphenation.ts';
import { PINS } from './pins.ts';

const HERE = import.meta.dirname;
/** Library that parses the requests to the host. */
export const READER = 'libyyjson.so.0';
/** The source files of the host. */
export const SOURCES = [
  ...['main.c', 'extent.c', 'symbols.c', 'time_limit.c'].map((name) => join(HERE, name)),
  MESSAGE_SOURCE,
  ...SANDBOX_SOURCES,
];

/** Builds LibreOffice and its warm host: `program/` (with `host`), `share/`, `lib/`, `manifest.json`, `licenses/`. */
export async function build(options: BuildOptions): Promise<void> {
  await buildNative(options, [HERE], async (build) => {
    const { directory, unpacked, libraries, headers, unpacking } = build;
    const packages = await unpackPackages({
      ...unpacking,
      packages: [...PINS.packages, ...PINS.hyphenation.split(' ').map((language) => `hyphen-${language}`)],
      suite: PINS.suite,
      keep: (name) => !PINS.unwanted.test(name),
      into: unpacked,
    });
    options.progress('Arranging LibreOffice');
    await arrange(unpacked, directory);
    await addHyphenation(unpacked, directory);
    await copyFile(join(libraries, READER), join(directory, 'lib', READER));
    options.progress('Compiling the LibreOffice host');
    await unpackHeaders({ ...unpacking, into: headers });
    await build.compile({
      sources: SOURCES,
      include: [join(headers, 'usr/include')],
      libraries: [join(directory, 'lib', READER)],
      output: join(directory, 'program/host'),
    });
    await checkFunctions(join(directory, 'program/libmergedlo.so'));
    return packages;
  });
}

/** Checks that LibreOffice still has the functions that `symbols.c` finds by name, because the host does without those that are missing. */
async function checkFunctions(library: string): Promise<void> {
  const [code, binary] = await Promise.all([readFile(join(HERE, 'symbols.c'), 'utf8'), readFile(library)]);
  const names = [...code.matchAll(/"(_Z\w+)"/g)].map(([, name]) => name!);
  const missing = names.filter((name) => !binary.includes(`\0${name}\0`));
  if (missing.length > 0) throw new Error(`LibreOffice no longer has ${missing.join(', ')}; see symbols.c.`);
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
