import { join } from 'node:path';
import * as tools from '../../functions/tools.ts';
import type { BuildOptions } from '../../layers/product.ts';
import { bundleFunction } from './bundle.ts';
import { foldLayer } from './fold.ts';

// Builds what the stack uploads: `dist/aws/functions/<name>` and `dist/aws/layers/<name>`; what is built already is kept.
const DIST = join(import.meta.dirname, '../../dist');
const progress = (text: string) => process.stdout.write(`${text}\n`);

const layers = new Set<string>(Object.values(tools).flatMap(({ sizing }) => sizing.layers));
for (const name of layers) {
  const { build } = (await import(`../../layers/${name}/build.ts`)) as {
    build(options: BuildOptions): Promise<void>;
  };
  const built = join(DIST, 'layers', name);
  await build({ into: built, progress });
  await foldLayer(name, built, { into: join(DIST, 'aws/layers', name), progress });
}

for (const { name, layers: own } of [
  { name: 'router', layers: [] },
  ...Object.values(tools).map(({ name, sizing }) => ({ name, layers: sizing.layers })),
]) {
  const bundle = await bundleFunction(name, join(DIST, 'aws/functions', name));
  const missing = [...bundle.layers].filter((layer) => !(own as readonly string[]).includes(layer));
  if (missing.length > 0)
    throw new Error(`${name} imports from the layers ${missing}, which its sizing does not name.`);
  progress(`Bundled ${name}`);
}
