import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuildOptions } from './build/product.ts';
import { createProgress } from './progress.ts';

/** The layers that one machine needs; the one that takes longest comes last. */
const LAYERS = ['fonts', 'sandbox', 'pdf', 'chromium', 'libreoffice'] as const;

const products = join(dirname(fileURLToPath(import.meta.url)), '../dist/layers');

mkdirSync(products, { recursive: true });
for (const layer of LAYERS) {
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
