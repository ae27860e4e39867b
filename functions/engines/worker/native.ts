import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { EngineDependencies, Layer } from '../../shared/tool.ts';
import type { WorkerCommand } from './pool.ts';
import { layerPaths, sandboxEnvironment } from './sandbox.ts';

const LOADERS = ['ld-linux-x86-64.so.2', 'ld-linux-aarch64.so.1'] as const;

/**
 * Prepares a native engine of a layer, by default the pdf layer. It starts through the layer's own loader and C library, and sandboxes itself
 * before it reads a request: it can open only the layers named here and its private directory.
 */
export function nativeEngine(
  { layers, sandbox }: Pick<EngineDependencies, 'layers' | 'sandbox'>,
  program: string,
  options: {
    readonly layer?: Layer;
    /** Further layers that it may read. */
    readonly layers?: readonly string[];
    readonly args?: readonly string[];
  } = {},
): (home: string) => WorkerCommand {
  const own = options.layer ?? 'pdf';
  const layer = resolve(layers, own);
  const libraries = join(layer, 'lib');
  const loader = LOADERS.find((name) => existsSync(join(libraries, name))) ?? LOADERS[0];
  const readable = [own, ...(options.layers ?? [])].flatMap((name) => layerPaths(resolve(layers, name)));
  return (home) => ({
    command: join(libraries, loader),
    args: [
      ...['--library-path', libraries, join(layer, 'program', program)],
      ...(options.args ?? []),
      ...[home, home, ...readable],
    ],
    environment: sandboxEnvironment(sandbox),
  });
}
