import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compile, compilerRecipe } from '../../../layers/build/compile.ts';
import { buildOnce, cacheOf } from '../../../layers/build/product.ts';

const SOURCE = join(import.meta.dirname, 'filter.c');

/** Compiles the program that puts Lambda's system call filter around a function and returns its path. */
export async function buildFilter(progress: (text: string) => void): Promise<string> {
  const into = join(import.meta.dirname, '../../../dist/test/filter');
  await buildOnce(
    { into, progress },
    await Promise.all([readFile(SOURCE, 'utf8'), compilerRecipe()]),
    async (directory) => {
      await compile({
        sources: [SOURCE],
        ownStart: true,
        output: join(directory, 'filter'),
        cache: join(cacheOf(into), 'apt'),
        progress,
      });
    },
  );
  return join(into, 'filter');
}
