import { join } from 'node:path';
import { compile, compilerRecipe, linkedPackages } from '../build/compile.ts';
import { writeManifest } from '../build/manifest.ts';
import { type BuildOptions, buildOnce, cacheOf, recipeOf } from '../build/product.ts';

const HERE = import.meta.dirname;
const sourcesNamed = (...names: readonly string[]) => names.map((name) => join(HERE, name));

/** Sources of the sandbox, for programs that enter it by themselves. */
export const SANDBOX_SOURCES: readonly string[] = sourcesNamed('sandbox.c', 'rules.c');
/** Sources of the program that starts other programs in that sandbox. */
export const ENTER_SOURCES: readonly string[] = sourcesNamed('enter.c', 'sandbox.c', 'rules.c');
/** Sources of the program that starts engines beside those of other accounts. */
const LAUNCH_SOURCES: readonly string[] = sourcesNamed('launch.c');
/** Sources that every program with its own sandbox includes. */
export const RULES_SOURCES: readonly string[] = sourcesNamed('rules.c');

/** Builds the sandbox launchers: `enter`, `launch`, `manifest.json` of the libraries linked into them, `licenses/`. */
export async function build(options: BuildOptions): Promise<void> {
  const recipe = await Promise.all([recipeOf(HERE), compilerRecipe()]);
  await buildOnce(options, recipe, (directory) =>
    buildLaunchers({ enter: ENTER_SOURCES, launch: LAUNCH_SOURCES }, directory, options),
  );
}

/** Builds programs from their sources into a layer, with the manifest of the libraries linked into them. */
export async function buildLaunchers(
  programs: Readonly<Record<string, readonly string[]>>,
  directory: string,
  { into, progress }: BuildOptions,
): Promise<void> {
  // The programs must run with any C library that Node supports.
  const request = { ownStart: true, cache: join(cacheOf(into), 'apt'), progress };
  for (const [name, sources] of Object.entries(programs)) {
    await compile({ ...request, sources, output: join(directory, name) });
  }
  await writeManifest({ ...(await linkedPackages(request)), into: directory });
}
