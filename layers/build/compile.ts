import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Package, unpackPackages } from '../debian/apt.ts';
import { runCommand } from './command.ts';
import { platform } from './platform.ts';

/** A 200 kB C compiler and the headers that it needs. They are used while a layer is built and are not part of it. */
const COMPILER = { suite: 'trixie', packages: ['tcc', 'libc6-dev'] } as const;

/**
 * Compiles a C program with a compiler that is unpacked into `scratch` and started by its own loader, so the
 * machine needs no compiler. Returns the packages that were unpacked.
 */
export async function compile(request: {
  readonly sources: readonly string[];
  /** Further headers and libraries: packages that are unpacked without their dependencies, and the project's own folders. */
  readonly headers?: { readonly packages: readonly string[]; readonly folders: readonly string[] };
  /**
   * Whether the sources contain the code that calls `main`, so that the program runs with a C library older than the
   * compiler's.
   */
  readonly ownStart?: boolean;
  /** Shared libraries to link, by path; the program finds them at run time through its loader. */
  readonly libraries?: readonly string[];
  /** Arguments for the compiler: definitions, linker options. */
  readonly flags?: readonly string[];
  /** Builds a shared library with this name instead of a program. */
  readonly sharedName?: string;
  readonly output: string;
  readonly scratch: string;
  readonly cache: string;
  progress(text: string): void;
}): Promise<readonly Package[]> {
  const { sources, headers, ownStart, libraries: linked = [], flags = [], sharedName } = request;
  const { output, scratch, cache, progress } = request;
  const unpacking = { suite: COMPILER.suite, into: scratch, cache, progress };
  const packages = await unpackPackages({ ...unpacking, packages: COMPILER.packages });
  if (headers) await unpackPackages({ ...unpacking, packages: headers.packages, dependencies: false });

  const { triplet, loader } = platform();
  const [include, libraries] = [join(scratch, 'usr/include'), join(scratch, 'usr/lib', triplet)];
  const library = (name: string) => join(libraries, name);
  const begin = join(scratch, 'start.o');
  const object = await readFile(library('crt1.o'), 'latin1');
  // The names have the same length, and a trailing `main` also stands for the function.
  const bound = ownStart ? object.replace('__libc_start_main', '__ours_start_main') : object;
  await writeFile(begin, bound, 'latin1');
  // Uses only unpacked files, because the machine's C library may be older.
  const folders = [library('tcc/include'), include, join(include, triplet), ...(headers?.folders ?? [])];
  const runtime = ['libc.so.6', loader, 'libc_nonshared.a', 'tcc/libtcc1.a'].map(library);
  const kind = sharedName === undefined ? [begin] : ['-shared', `-Wl,-soname=${sharedName}`];
  await runCommand(library(loader), [
    ...['--library-path', libraries, join(scratch, 'usr/bin/tcc'), `-B${library('tcc')}`],
    // The libraries' own dependencies are also looked up here, because the machine may lack them or have another version.
    ...linked.map((file) => `-L${dirname(file)}`),
    ...['-nostdinc', ...folders.map((folder) => `-I${folder}`), '-nostdlib', '-Wall', ...flags, '-o', output],
    ...[...kind, library('crti.o'), ...sources, ...linked, ...runtime, library('crtn.o')],
  ]);
  return packages;
}
