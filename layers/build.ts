import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuildOptions } from './build/product.ts';

/** What the one-machine deployment needs, and the longest last. */
const LAYERS = ['fonts', 'sandbox', 'pdf', 'chromium', 'libreoffice'] as const;

const products = join(dirname(fileURLToPath(import.meta.url)), '../dist/layers');
const progress = (text: string) => process.stdout.write(`${text}\n`);

mkdirSync(products, { recursive: true });
for (const layer of LAYERS) {
  const { build } = (await import(`./${layer}/build.ts`)) as { build(options: BuildOptions): Promise<void> };
  try {
    await build({ into: join(products, layer), progress });
  } catch (thrown) {
    process.stderr.write(`Layer ${layer}: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
    process.exit(1);
  }
}
