import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { compile } from '../build/compile.ts';
import { writeManifest } from '../build/manifest.ts';
import { type BuildOptions, buildOnce, cacheOf, recipeOf } from '../build/product.ts';

const HERE = import.meta.dirname;
const sourcesNamed = (...names: readonly string[]) => names.map((name) => join(HERE, name));

/** The sandbox of an engine, for programs that enter it by themselves. */
export const SANDBOX_SOURCES: readonly string[] = sourcesNamed('sandbox.c', 'rules.c');
/** What starts programs in that sandbox. */
export const ENTER_SOURCES: readonly string[] = sourcesNamed('enter.c', 'sandbox.c', 'rules.c', 'start.c');
/** What every program consists of that starts others in a sandbox of its own. */
export const RULES_SOURCES: readonly string[] = sourcesNamed('rules.c', 'start.c');

/** Builds the sandbox launcher: `enter`, `manifest.json` of the libraries linked into it, `licences/`. */
export async function build(options: BuildOptions): Promise<void> {
  await buildOnce(options, await recipeOf(HERE), (directory) =>
    buildLauncher(ENTER_SOURCES, directory, options),
  );
}

/** Builds `enter` from its sources into a layer, with the manifest of the libraries linked into it. */
export async function buildLauncher(
  sources: readonly string[],
  directory: string,
  { into, progress }: BuildOptions,
): Promise<void> {
  const scratch = join(directory, 'compiler');
  const packages = await compile({
    sources,
    // Statically linked, so that it runs wherever Node does.
    ownStart: true,
    output: join(directory, 'enter'),
    scratch,
    cache: join(cacheOf(into), 'apt'),
    progress,
  });
  const linked = packages.filter(({ name }) => name === 'tcc' || name === 'libc6-dev');
  await writeManifest({ packages: linked, unpacked: scratch, into: directory });
  await rm(scratch, { recursive: true });
}
