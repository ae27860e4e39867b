import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Package } from '../debian/apt.ts';
import { type CompileRequest, compile, compilerRecipe } from './compile.ts';
import { writeManifest } from './manifest.ts';
import { platform } from './platform.ts';
import { type BuildOptions, buildOnce, cacheOf, recipeOf } from './product.ts';

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
