import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { LOCAL_LAYERS } from '../functions/shared/tool.ts';
import { type BuildOptions, discardProducts } from './build/product.ts';
import { createProgress } from './progress.ts';
import { writeSbom } from './sbom.ts';

const products = join(dirname(fileURLToPath(import.meta.url)), '../dist/layers');

// `--update` builds from the newest packages even if the recipes are unchanged.
const { values: flags } = parseArgs({
  options: { update: { type: 'boolean', default: false } },
  strict: false,
});
mkdirSync(products, { recursive: true });
if (flags.update) await discardProducts(products, LOCAL_LAYERS);
for (const layer of LOCAL_LAYERS) {
  const { build } = (await import(`./${layer}/build.ts`)) as { build(options: BuildOptions): Promise<void> };
  const progress = createProgress(`Layer ${layer}`);
  try {
    await build({ into: join(products, layer), progress: progress.step });
    progress.end();
  } catch (thrown) {
    progress.end();
    process.stderr.write(`Layer ${layer}: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
    process.exit(1);
  }
}
// Lists everything that runs, for vulnerability scanners.
await writeSbom(products, LOCAL_LAYERS, join(products, '../sbom.json'));
