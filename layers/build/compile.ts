import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type Package, unpackPackages } from '../debian/apt.ts';
import { inParallel, runCommand } from './command.ts';
import { buildOnce, platform } from './product.ts';

/** gcc without its driver, which would search for parts of an installed compiler. */
const COMPILER = {
  suite: 'trixie',
  packages: ['cpp-14', 'binutils', 'libgcc-14-dev', 'libc6-dev'],
  /** Dependencies that compiling C does not need: other sanitizers, a profiler, developer tools. */
  unwanted:
    /^(libtsan|libhwasan|liblsan|libitm|libgomp|libatomic|libquadmath|libgprofng|libcrypt|libc-dev-bin|rpcsvc)/,
} as const;

/** Start code that calls `main` without the C library's newest function for it. */
const START = join(import.meta.dirname, 'start.c');

const HARDENING = [
  '-O2',
  '-fstack-protector-strong',
  '-fstack-clash-protection',
  '-ftrivial-auto-var-init=zero',
  '-U_FORTIFY_SOURCE',
  '-D_FORTIFY_SOURCE=3',
];
/**
 * Enables shadow stacks only. Debian's C library does not support indirect branch tracking, so that cannot be
 * announced to the loader.
 */
const CONTROL_FLOW = {
  x64: { compiler: ['-fcf-protection=full'], linker: ['-z', 'shstk'] },
  arm64: { compiler: ['-mbranch-protection=standard'], linker: [] },
} as const;
/** Flags without optimization, which would take half a minute for the filters of the sandbox. */
const SANITIZERS = [
  '-O0',
  '-g',
  '-fno-omit-frame-pointer',
  '-fsanitize=address,undefined',
  '-fno-sanitize-recover=all',
];

export interface CompileRequest {
  readonly sources: readonly string[];
  /** Folders with further headers: the project's own, and those of unpacked packages. */
  readonly include?: readonly string[];
  /** Whether the program must run with a C library older than the compiler's. */
  readonly ownStart?: boolean;
  /** Shared libraries to link, by path. The program finds them at run time through its loader. */
  readonly libraries?: readonly string[];
  /** Arguments for the compiler, such as definitions. */
  readonly flags?: readonly string[];
  /** Name of the shared library to build instead of a program. */
  readonly sharedName?: string;
  /** Whether to build a program for tests that exits as soon as it misuses memory or relies on undefined behavior. */
  readonly sanitize?: boolean;
  readonly output: string;
  /** Folder for packages and for the compiler, which is unpacked once. */
  readonly cache: string;
  progress(text: string): void;
}

/** Returns everything that the result of a compilation depends on besides its request, for the recipe of a layer. */
export async function compilerRecipe(): Promise<object> {
  return Promise.all([import.meta.filename, START].map((file) => readFile(file, 'utf8')));
}

/**
 * Compiles a C program with a compiler that is unpacked and started by its own loader, so that the machine needs
 * none. The result is position-independent, has stack protection, no writable code, and a read-only function table.
 */
export async function compile(request: CompileRequest): Promise<void> {
  const compiler = await unpackCompiler(request);
  const sources = [...request.sources, ...(request.ownStart ? [START] : [])];
  const scratch = await mkdtemp(join(tmpdir(), 'compile-'));
  try {
    const objects = await inParallel(sources, availableParallelism(), async (source, index) => {
      const object = join(scratch, `${index}-${basename(source)}.o`);
      await compileSource(compiler, request, source, object);
      return object;
    });
    await link(compiler, request, objects);
  } finally {
    await rm(scratch, { recursive: true });
  }
}

/** Returns the compiler's packages, parts of which are linked into each program, and the folder with their licenses. */
export async function linkedPackages(
  request: Pick<CompileRequest, 'cache' | 'progress'>,
): Promise<{ packages: readonly Package[]; unpacked: string }> {
  const unpacked = await unpackCompiler(request);
  const packages = JSON.parse(await readFile(join(unpacked, 'packages.json'), 'utf8')) as Package[];
  const linked = packages.filter(({ name }) => name === 'libgcc-14-dev' || name === 'libc6-dev');
  return { packages: linked, unpacked };
}

/** Returns the folder of the libraries that a program with sanitizers needs at run time. */
export async function sanitizerLibraries(
  request: Pick<CompileRequest, 'cache' | 'progress'>,
): Promise<string> {
  return join(await unpackCompiler(request), 'usr/lib', platform().triplet);
}

async function unpackCompiler({
  cache,
  progress,
}: Pick<CompileRequest, 'cache' | 'progress'>): Promise<string> {
  const into = join(dirname(cache), 'compiler');
  await buildOnce({ into, progress }, COMPILER, async (directory) => {
    const { suite, packages, unwanted } = COMPILER;
    const keep = (name: string) => !unwanted.test(name);
    const found = await unpackPackages({ suite, packages, keep, into: directory, cache, progress });
    await rm(join(directory, 'usr/share/locale'), { recursive: true });
    await writeFile(join(directory, 'packages.json'), JSON.stringify(found));
  });
  return into;
}

/** Runs a program of the compiler with the compiler's own loader and libraries. */
async function run(compiler: string, program: string, args: readonly string[]): Promise<void> {
  const { triplet, loader } = platform();
  const libraries = join(compiler, 'usr/lib', triplet);
  await runCommand(join(libraries, loader), ['--library-path', libraries, join(compiler, program), ...args]);
}

/** Returns the compiler's own folder of libraries and headers. */
const ownFolder = (compiler: string) => join(compiler, 'usr/lib/gcc', platform().triplet, '14');

async function compileSource(
  compiler: string,
  { include = [], flags = [], sharedName, sanitize }: CompileRequest,
  source: string,
  object: string,
): Promise<void> {
  const { triplet, architecture } = platform();
  const headers = join(compiler, 'usr/include');
  const system = [join(ownFolder(compiler), 'include'), headers, join(headers, triplet)];
  const assembly = `${object}.s`;
  await run(compiler, `usr/libexec/gcc/${triplet}/14/cc1`, [
    '-quiet',
    source,
    '-o',
    assembly,
    sharedName === undefined ? '-fPIE' : '-fPIC',
    ...(sanitize ? SANITIZERS : [...HARDENING, ...CONTROL_FLOW[architecture].compiler]),
    '-Wall',
    '-Wextra',
    '-Wno-unused-parameter',
    '-Wno-missing-field-initializers',
    '-Werror',
    // Only unpacked headers are used, because the machine's may be older.
    ...['-nostdinc', ...[...include, ...system].flatMap((folder) => ['-isystem', folder])],
    ...flags,
  ]);
  await run(compiler, `usr/bin/${triplet}-as`, [assembly, '-o', object]);
}

async function link(
  compiler: string,
  { libraries = [], ownStart, sharedName, sanitize, output }: CompileRequest,
  objects: readonly string[],
): Promise<void> {
  const { triplet, loader, interpreter, architecture } = platform();
  const own = (name: string) => join(ownFolder(compiler), name);
  const library = (name: string) => join(compiler, 'usr/lib', triplet, name);
  const kind =
    sharedName === undefined
      ? ['-pie', '-dynamic-linker', interpreter, library('Scrt1.o')]
      : ['-shared', '-soname', sharedName];
  // The sanitizers come first, because they replace functions of the C library.
  const sanitizers = sanitize ? ['libasan.so.8', 'libubsan.so.1'].map(library) : [];
  const runtime = ['libc.so.6', 'libc_nonshared.a', loader].map(library);
  await run(compiler, `usr/bin/${triplet}-ld.bfd`, [
    '-o',
    output,
    '-z',
    'relro',
    '-z',
    'now',
    '-z',
    'noexecstack',
    '-z',
    'separate-code',
    ...['--eh-frame-hdr', '--hash-style=gnu', '--as-needed', ...CONTROL_FLOW[architecture].linker],
    ...(sanitize ? [] : ['--strip-all']),
    ...(ownStart ? ['--wrap=__libc_start_main'] : []),
    // The libraries' own dependencies are also looked up here, because the machine may lack them or have other
    // versions.
    ...[...libraries.map((file) => dirname(file)), library('')].flatMap((folder) => ['-rpath-link', folder]),
    ...kind,
    library('crti.o'),
    own('crtbeginS.o'),
    ...objects,
    ...sanitizers,
    // Linked by name, because the program would otherwise look for a library without a soname in this folder.
    ...libraries.flatMap((file) => ['-L', dirname(file), `-l:${basename(file)}`]),
    ...runtime,
    own('libgcc.a'),
    own('crtendS.o'),
    library('crtn.o'),
  ]);
}
