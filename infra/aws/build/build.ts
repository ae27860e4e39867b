import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventSchema } from '../../../functions/platform/aws/lambda/direct/event.ts';
import { LOCAL_LAYERS, type Tool } from '../../../functions/shared/tool.ts';
import { writeSite } from '../../../functions/site/build.ts';
import * as tools from '../../../functions/tools.ts';
import { type BuildOptions, discardProducts } from '../../../layers/build/product.ts';
import { SAMPLES_FOLDER } from '../../local/self-check/samples.ts';
import { readVersion } from '../../version.ts';
import { VERSION_FILE } from '../outputs.ts';
import { type Bundle, bundleConstruct, bundleFunction } from './bundle.ts';
import { archiveLayer, compressLayer } from './compress-layers.ts';

// Builds the artifacts that the stack uploads, unless they are unchanged: `dist/aws/functions/<name>` and
// `dist/aws/layers/<name>`. Also writes `dist/aws/schemas/<tool>.json`, the JSON Schema of each tool's public event.
// Also writes `construct.mjs`, the CDK construct that other apps import. `--archives` adds
// `dist/aws/layers/<name>.zip`, which the stack then uploads instead of the folder, for deployments from other systems.
// `--update` builds from the newest packages.
const DIST = join(import.meta.dirname, '../../../dist');
const progress = (text: string) => process.stdout.write(`${text}\n`);

const layers = new Set(Object.values(tools).flatMap(({ sizing }): readonly string[] => sizing.layers));
// The set-up has updated the others.
const others = [...layers].filter((name) => !(LOCAL_LAYERS as readonly string[]).includes(name));
if (process.argv.includes('--update')) await discardProducts(join(DIST, 'layers'), others);
for (const name of layers) await buildLayer(name);
// Lambda attaches at most five layers to a function. So the sandbox's launcher (48 kB) is uploaded with the fonts,
// which every tool with the sandbox has.
await cp(join(DIST, 'aws/layers/sandbox/sandbox'), join(DIST, 'aws/layers/fonts/sandbox'), {
  recursive: true,
});
for (const name of layers) await writeArchive(name);
await buildFunction('router', []);
await cp(SAMPLES_FOLDER, join(DIST, 'aws/functions/router/samples'), { recursive: true });
await buildFunction('jobs', []);
await buildFunction('site', []);
await writeSite(join(DIST, 'aws/functions/site/site'));
const version = readVersion((layer) => join(DIST, 'aws/layers', layer, layer));
await writeFile(join(DIST, 'aws', VERSION_FILE), JSON.stringify(version));
await writeFile(join(DIST, 'aws/construct.mjs'), await bundleConstruct());
for (const tool of Object.values(tools)) {
  await buildFunction(tool.name, tool.sizing.layers);
  await writeSchema(tool);
}

async function buildLayer(name: string): Promise<void> {
  const { build } = (await import(`../../../layers/${name}/build.ts`)) as {
    build(options: BuildOptions): Promise<void>;
  };
  const built = join(DIST, 'layers', name);
  await build({ into: built, progress });
  await compressLayer(name, built, { into: join(DIST, 'aws/layers', name), progress });
}

async function writeArchive(name: string): Promise<void> {
  const archive = join(DIST, 'aws/layers', `${name}.zip`);
  await rm(archive, { force: true });
  if (!process.argv.includes('--archives')) return;
  progress(`Archiving ${name}`);
  await archiveLayer(join(DIST, 'aws/layers', name), archive);
}

async function buildFunction(name: string, own: readonly string[]): Promise<void> {
  const bundle = await bundleFunction(name);
  const missing = [...bundle.layers].filter((layer) => !own.includes(layer));
  if (missing.length > 0) {
    throw new Error(`${name} imports from the layers ${missing}, which are missing in its sizing.`);
  }
  if (await writeScripts(bundle, join(DIST, 'aws/functions', name))) progress(`Bundled ${name}`);
}

/** Writes the JSON Schema of a tool's public event. */
async function writeSchema(tool: Tool): Promise<void> {
  const folder = join(DIST, 'aws/schemas');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${tool.name}.json`), `${JSON.stringify(eventSchema(tool), undefined, 2)}\n`);
}

/**
 * Writes the scripts that have changed, each atomically, because other processes may be reading them. Returns whether
 * any have changed.
 */
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
