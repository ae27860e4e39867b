import { cp, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { compile, compilerRecipe } from '../../layers/build/compile.ts';
import { buildOnce, cacheOf } from '../../layers/build/product.ts';
import { unpackPackages } from '../../layers/debian/apt.ts';

const PINS = { suite: 'bookworm', packages: ['libc6', 'libstdc++6', 'libgcc-s1'] } as const;

/** Unpacks the C and C++ libraries, which stand in for Lambda's base image, and returns their folder. */
export async function buildBase(progress: (text: string) => void): Promise<string> {
  const into = join(import.meta.dirname, '../../dist/test/base');
  await buildOnce({ into, progress }, PINS, async (directory) => {
    const unpacked = join(directory, 'unpacked');
    await unpackPackages({
      ...PINS,
      dependencies: false,
      into: unpacked,
      cache: join(cacheOf(into), 'apt'),
      progress,
    });
    for (const folder of ['lib', 'lib64']) {
      await cp(join(unpacked, folder), join(unpacked, 'usr', folder), {
        recursive: true,
        verbatimSymlinks: true,
      }).catch(ignoreMissing);
    }
    await mkdir(join(directory, 'usr'));
    for (const folder of ['lib', 'lib64']) {
      await rename(join(unpacked, 'usr', folder), join(directory, 'usr', folder)).catch(ignoreMissing);
    }
    await rm(unpacked, { recursive: true });
  });
  return into;
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

const SOURCE = join(import.meta.dirname, 'filter.c');

/** Compiles the program that puts Lambda's system call filter around a function and returns its path. */
export async function buildFilter(progress: (text: string) => void): Promise<string> {
  const into = join(import.meta.dirname, '../../dist/test/filter');
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
