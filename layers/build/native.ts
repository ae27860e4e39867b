import { copyFile, mkdir, realpath, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Package } from '../debian/apt.ts';
import { runCommand } from './command.ts';
import { type CompileRequest, compile, compilerRecipe } from './compile.ts';
import { writeManifest } from './manifest.ts';
import { type BuildOptions, buildOnce, cacheOf, platform, recipeOf } from './product.ts';

const SANDBOX = join(import.meta.dirname, '../sandbox');
const PROTOCOL = join(import.meta.dirname, 'protocol');

/** The source file that reads requests and writes answers. */
export const MESSAGE_SOURCE = join(PROTOCOL, 'message.c');

/** The folders and steps of a build. */
export interface NativeBuild {
  /** Folder of the layer. */
  readonly directory: string;
  /** Folder that Debian packages are unpacked to. It is deleted afterwards. */
  readonly unpacked: string;
  /** Folder of the libraries in these packages. */
  readonly libraries: string;
  /** Folder that packages with headers are unpacked to. It is deleted afterwards. */
  readonly headers: string;
  /** Passed to every call that unpacks packages. */
  readonly unpacking: Pick<CompileRequest, 'cache' | 'progress'>;
  /** Compiles with the headers of the sandbox and of messages, besides the given ones. */
  compile(request: Omit<CompileRequest, 'cache' | 'progress'>): Promise<void>;
}

/**
 * Builds a layer of native engines, unless nothing in `folders` and nothing that all engines share has changed. `make` fills the
 * layer's folder, and returns the packages for its manifest.
 */
export async function buildNative(
  options: BuildOptions,
  folders: readonly string[],
  make: (build: NativeBuild) => Promise<readonly Package[]>,
): Promise<void> {
  const recipe = await Promise.all([...[...folders, SANDBOX, PROTOCOL].map(recipeOf), compilerRecipe()]);
  await buildOnce(options, recipe, async (directory) => {
    const unpacking = { cache: join(cacheOf(options.into), 'apt'), progress: options.progress };
    const [unpacked, headers] = [join(directory, 'unpacked'), join(directory, 'headers')];
    await mkdir(join(directory, 'program'));
    const packages = await make({
      directory,
      unpacked,
      libraries: join(unpacked, 'usr/lib', platform().triplet),
      headers,
      unpacking,
      compile: ({ include = [], ...request }) =>
        compile({ ...request, ...unpacking, include: [SANDBOX, PROTOCOL, ...include] }),
    });
    await writeManifest({ packages, unpacked, into: directory });
    await rm(unpacked, { recursive: true });
    await rm(headers, { recursive: true });
  });
}

/**
 * Copies the loader and every library that `programs` need from unpacked Debian packages to `into`. The result
 * contains its own C library and runs on any Linux.
 */
export async function copyLibraries(
  programs: readonly string[],
  { unpacked, into }: { unpacked: string; into: string },
): Promise<void> {
  const { triplet, loader } = platform();
  const all = join(unpacked, 'usr/lib', triplet);
  const needed = new Set<string>([loader]);
  for (const program of programs) {
    const listed = await runCommand(join(all, loader), ['--library-path', all, '--list', program]);
    const missing = /^\s*(\S+) => not found/m.exec(listed)?.[1];
    if (missing)
      throw new Error(`${basename(program)} needs ${missing}, which no package of the layer contains.`);
    for (const file of listedFiles(listed)) needed.add(basename(file));
  }
  await mkdir(into, { recursive: true });
  for (const name of needed) await copyFile(await realpath(join(all, name)), join(into, name));
}

/** Returns the paths in a loader's list of libraries. Folders may have spaces in their names. */
export function listedFiles(listed: string): string[] {
  return [...listed.matchAll(/ => (\/.+) \(0x[0-9a-f]+\)$/gm)].map(([, file]) => file!);
}
