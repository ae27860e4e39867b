import { copyFile, glob, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { runCommand } from './command.ts';
import { type BuildOptions, buildOnce, cacheOf } from './product.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The packages of `package-lock.json` that a layer contains. */
export interface NpmPins {
  readonly cpu: string;
  readonly libc: string;
  readonly packages: readonly string[];
  /** Native packages that the layer needs, although npm treats them as optional. */
  readonly native: readonly string[];
  /** Files that are not used at run time, by path below `node_modules`. */
  readonly unwanted: readonly RegExp[];
}

/**
 * Builds a layer of npm packages and their dependencies, with a `manifest.json`. The packages contain their licenses.
 */
export async function buildNpmLayer(options: BuildOptions, pins: NpmPins, recipe: object): Promise<void> {
  const lock = await readFile(join(ROOT, 'package-lock.json'), 'utf8');
  const locked = JSON.parse(lock) as { packages: Record<string, { integrity: string }> };
  const script = await readFile(import.meta.filename, 'utf8');
  await buildOnce(options, { recipe, lock, script }, async (directory) => {
    const { source, remove } = await installed(options, pins);
    const names = await closureOf(source, [...pins.packages, ...pins.native]);
    const manifest = [];
    for (const name of names) {
      await copyPackage(name, source, join(directory, 'node_modules'), pins.unwanted);
      const { version, license } = await packageJson(source, name);
      const { integrity } = locked.packages[`node_modules/${name}`]!;
      manifest.push({ name, version, architecture: pins.cpu, integrity, licenses: [license] });
    }
    await writeFile(join(directory, 'manifest.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
    await remove();
  });
}

/**
 * Returns the folder of the packages for the target platform: this project's, or else one that is installed for it.
 */
async function installed({ into, progress }: BuildOptions, { cpu, libc, native }: NpmPins) {
  const own = join(ROOT, 'node_modules');
  const alike = await stat(join(own, native[0]!)).catch(() => undefined);
  if (alike) return { source: own, remove: async () => {} };

  progress(`Installing npm packages for ${cpu}`);
  await mkdir(cacheOf(into), { recursive: true });
  const directory = await mkdtemp(join(cacheOf(into), 'npm-'));
  for (const file of ['package.json', 'package-lock.json', '.npmrc']) {
    await copyFile(join(ROOT, file), join(directory, file));
  }
  const target = ['--os=linux', `--cpu=${cpu}`, `--libc=${libc}`];
  await runCommand('npm', ['ci', '--omit=dev', '--ignore-scripts', ...target], { cwd: directory });
  const remove = () => rm(directory, { recursive: true, force: true });
  return { source: join(directory, 'node_modules'), remove };
}

interface PackageJson {
  readonly version: string;
  readonly license: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

async function packageJson(source: string, name: string): Promise<PackageJson> {
  return JSON.parse(await readFile(join(source, name, 'package.json'), 'utf8')) as PackageJson;
}

/** Returns the packages and all their dependencies, sorted. */
async function closureOf(source: string, names: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  const add = async (name: string): Promise<void> => {
    if (found.has(name)) return;
    found.add(name);
    const { dependencies = {} } = await packageJson(source, name);
    for (const dependency of Object.keys(dependencies)) await add(dependency);
  };
  for (const name of names) await add(name);
  return [...found].sort();
}

async function copyPackage(
  name: string,
  source: string,
  into: string,
  unwanted: readonly RegExp[],
): Promise<void> {
  for await (const entry of glob(`${name}/**`, { cwd: source, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const relative = path.slice(source.length + 1);
    if (!entry.isFile() || unwanted.some((pattern) => pattern.test(relative))) continue;
    await mkdir(dirname(join(into, relative)), { recursive: true });
    await copyFile(path, join(into, relative));
  }
}
