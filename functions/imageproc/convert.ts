import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Conversion, Engine, EngineDependencies, SourceFile } from '../shared/tool.ts';
import { WorkerPool } from '../shared/worker/pool.ts';
import { sandboxedNode } from '../shared/worker/sandbox.ts';
import type { ImageprocOptions, ImageprocRequest } from './request.ts';
import type { imageproc } from './tool.ts';

const SCRIPT = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** Makes the engine: sharp, in up to `size` child processes. */
export function createEngine(
  dependencies: Pick<EngineDependencies, 'layers' | 'code' | 'temporary' | 'size'>,
  engineScript = SCRIPT,
): Engine<typeof imageproc> {
  const { temporary, size } = dependencies;
  const command = sandboxedNode(dependencies, ['--max-old-space-size=512', engineScript]);
  const processes = new WorkerPool(command, { temporary, size, requests: 1000, memory: 500 });

  async function convert(conversion: Conversion<ImageprocOptions, SourceFile>) {
    const { source, options, format, directory, limits } = conversion;
    const output = join(directory, `image.${format}`);
    const request: ImageprocRequest = { path: source.path, output, format, options, limits };
    await processes.run(request, conversion);
    return { outputs: [{ path: output }] };
  }

  return { convert, warm: () => processes.warm(), close: () => processes.close() };
}
