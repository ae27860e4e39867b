import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EngineProcesses } from '../shared/engine-processes.ts';
import { ConversionError } from '../shared/errors.ts';
import { sandboxedNode } from '../shared/sandbox.ts';
import type { Conversion, Engine, EngineSurroundings, Format, SourceFile } from '../shared/tool.ts';
import type { ImageprocOptions, ImageprocRequest } from './request.ts';
import type { imageproc } from './tool.ts';

const SCRIPT = fileURLToPath(new URL('./engine.ts', import.meta.url));

/** Makes the engine: sharp, in up to `size` child processes. */
export function createEngine(
  surroundings: Pick<EngineSurroundings, 'layers' | 'code' | 'temporary' | 'size'>,
  engineScript = SCRIPT,
): Engine<typeof imageproc> {
  const { temporary, size } = surroundings;
  const command = sandboxedNode(surroundings, ['--max-old-space-size=512', engineScript]);
  const processes = new EngineProcesses(command, { temporary, size, requests: 1000, memory: 500 });

  async function convert(conversion: Conversion<ImageprocOptions, SourceFile>) {
    const { source, options, format, directory, limits } = conversion;
    checkOptions(options, format);
    const output = join(directory, `image.${format}`);
    const request: ImageprocRequest = { path: source.path, output, format, options, limits };
    await processes.run(request, conversion);
    return { outputs: [{ path: output }] };
  }

  return { convert, warm: () => processes.warm(), close: () => processes.close() };
}

function checkOptions({ steps }: ImageprocOptions, format: Format): void {
  const cmyk = steps.some((step) => step.operator === 'colorspace' && step.value === 'CMYK');
  if (cmyk && format !== 'jpg' && format !== 'tiff') {
    const message = `Parameter '-colorspace' must be Gray or sRGB for a ${format}, got 'CMYK'.`;
    throw new ConversionError('BAD_PARAMETER', message);
  }
}
