import { createReadStream, createWriteStream } from 'node:fs';
import { copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createBrotliDecompress } from 'node:zlib';
import { runCommand } from '../build/command.ts';
import { compilerRecipe } from '../build/compile.ts';
import { writeManifest } from '../build/manifest.ts';
import { type BuildOptions, buildOnce, cacheOf, recipeOf } from '../build/product.ts';
import { unpackPackages } from '../debian/apt.ts';
import { buildLaunchers, RULES_SOURCES } from '../sandbox/build.ts';
import { compilePatterns } from './hyphenation.ts';
import { PINS } from './pins.ts';

const HERE = import.meta.dirname;
const SANDBOX = join(HERE, 'sandbox');
const RULES = join(HERE, '../sandbox');

/**
 * Builds the browser: `chromium`, the program that starts it in a sandbox (`enter`), SwiftShader, `lib/` with all
 * other libraries except glibc, `hyphen-data/`, `manifest.json`, `licenses/`.
 */
export async function build(options: BuildOptions): Promise<void> {
  const recipe = await Promise.all([...[HERE, SANDBOX, RULES].map(recipeOf), compilerRecipe()]);
  await buildOnce(options, recipe, async (directory) => {
    const source = join(dirname(fileURLToPath(import.meta.resolve(PINS.package))), '..');
    const { version, license } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8'));
    if (version !== PINS.version) {
      throw new Error(`${PINS.package} must be ${PINS.version}, found ${version}: run npm ci.`);
    }

    options.progress('Inflating Chromium');
    await Promise.all([
      inflate(join(source, 'bin', `${PINS.binary}.br`), join(directory, PINS.binary)),
      ...[PINS.libraries, PINS.swiftshader].map(async (name) => {
        const archive = join(directory, name);
        await inflate(join(source, 'bin', `${name}.br`), archive);
        await runCommand('tar', [
          '--extract',
          '--no-same-owner',
          '--file',
          archive,
          '--directory',
          directory,
        ]);
        await rm(archive);
      }),
    ]);
    await moveDriver(directory);
    const patterns = await addHyphenation(directory, options);

    const sources = ['enter.c', 'browser_sandbox.c'].map((name) => join(SANDBOX, name));
    await buildLaunchers({ enter: [...sources, ...RULES_SOURCES] }, directory, options);
    await copyFile(join(source, 'LICENSE'), join(directory, 'licenses', 'sparticuz-chromium'));
    const lock = await readFile(join(import.meta.dirname, '../../package-lock.json'), 'utf8');
    const { integrity } = JSON.parse(lock).packages[`node_modules/${PINS.package}`];
    const browser = { name: PINS.package, version, architecture: 'x64', integrity, licenses: [license] };
    const path = join(directory, 'manifest.json');
    const manifest = [browser, ...patterns, ...JSON.parse(await readFile(path, 'utf8'))];
    await writeFile(path, `${JSON.stringify(manifest, undefined, 2)}\n`);
  });
}

/** Adds `hyphen-data/`, with which Chromium divides words. Returns the entries of the manifest. */
async function addHyphenation(directory: string, { into, progress }: BuildOptions): Promise<object[]> {
  const unpacked = join(directory, 'unpacked');
  const sources = Object.entries(PINS.hyphenation).map(
    ([name, source]) => [name, ...source.split(' ')] as const,
  );
  const packages = await unpackPackages({
    packages: sources.map(([, one]) => one!),
    dependencies: false,
    suite: PINS.suite,
    cache: join(cacheOf(into), 'apt'),
    into: unpacked,
    progress,
  });
  progress('Compiling hyphenation patterns');
  await mkdir(join(directory, 'hyphen-data'));
  for (const [name, , locale] of sources) {
    const dictionary = await readFile(join(unpacked, 'usr/share/hyphen', `hyph_${locale}.dic`));
    await writeFile(join(directory, 'hyphen-data', `hyph-${name}.hyb`), compilePatterns(dictionary));
  }
  await writeManifest({ packages, unpacked, into: directory });
  await rm(unpacked, { recursive: true });
  return JSON.parse(await readFile(join(directory, 'manifest.json'), 'utf8'));
}

/**
 * Moves SwiftShader to the other libraries. Chromium reads the driver's description next to its real path. If that
 * names a library without a folder, the library is found through `LD_LIBRARY_PATH`, so a Lambda layer can store it
 * compressed.
 */
async function moveDriver(directory: string): Promise<void> {
  const library = 'libvk_swiftshader.so';
  const description = join(directory, 'vk_swiftshader_icd.json');
  const text = await readFile(description, 'utf8');
  if (!text.includes(`"./${library}"`)) throw new Error(`${PINS.package}: ${text} does not name ${library}.`);
  await writeFile(description, text.replace(`./${library}`, library));
  await rename(join(directory, library), join(directory, 'lib', library));
}

/** Decompresses a brotli file and makes it executable for everyone, because another user may run it. */
async function inflate(from: string, to: string): Promise<void> {
  await pipeline(
    createReadStream(from, { highWaterMark: 1 << 20 }),
    createBrotliDecompress({ chunkSize: 1 << 20 }),
    createWriteStream(to, { mode: 0o755 }),
  );
}
