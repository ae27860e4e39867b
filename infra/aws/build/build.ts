import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as tools from '../../../functions/tools.ts';
import type { BuildOptions } from '../../../layers/build/product.ts';
import { type Bundle, bundleFunction } from './bundle.ts';
import { foldLayer } from './compress-layers.ts';

// Builds what the stack uploads: `dist/aws/functions/<name>` and `dist/aws/layers/<name>`; what is built already is kept.
const DIST = join(import.meta.dirname, '../../../dist');
const progress = (text: string) => process.stdout.write(`${text}\n`);

const layers = new Set(Object.values(tools).flatMap(({ sizing }): readonly string[] => sizing.layers));
for (const name of layers) await buildLayer(name);
// Lambda attaches at most five layers to a function. The sandbox's launcher (48 kB) is uploaded with the fonts, which every
// tool has that has the sandbox.
await cp(join(DIST, 'aws/layers/sandbox/sandbox'), join(DIST, 'aws/layers/fonts/sandbox'), {
  recursive: true,
});
await buildFunction('router', []);
for (const { name, sizing } of Object.values(tools)) await buildFunction(name, sizing.layers);

async function buildLayer(name: string): Promise<void> {
  const { build } = (await import(`../../../layers/${name}/build.ts`)) as {
    build(options: BuildOptions): Promise<void>;
  };
  const built = join(DIST, 'layers', name);
  await build({ into: built, progress });
  await foldLayer(name, built, { into: join(DIST, 'aws/layers', name), progress });
}

async function buildFunction(name: string, own: readonly string[]): Promise<void> {
  const bundle = await bundleFunction(name);
  const missing = [...bundle.layers].filter((layer) => !own.includes(layer));
  if (missing.length > 0) {
    throw new Error(`${name} imports from the layers ${missing}, which its sizing does not name.`);
  }
  if (await writeScripts(bundle, join(DIST, 'aws/functions', name))) progress(`Bundled ${name}`);
}

/** Writes the scripts that have changed, each at once, for others may be reading; answers whether there were any. */
async function writeScripts({ scripts }: Bundle, into: string): Promise<boolean> {
  await mkdir(into, { recursive: true });
  let changed = false;
  for (const [file, text] of scripts) {
    const path = join(into, file);
    if ((await readFile(path, 'utf8').catch(() => undefined)) === text) continue;
    await writeFile(`${path}.${process.pid}`, text, { mode: 0o644 });
    await rename(`${path}.${process.pid}`, path);
    changed = true;
  }
  for (const file of await readdir(into)) {
    if (!scripts.has(file) && file.endsWith('.mjs')) await rm(join(into, file));
  }
  return changed;
}
