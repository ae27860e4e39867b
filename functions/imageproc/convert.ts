import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConversionError } from '../shared/errors.ts';
import { createDecoder, type Decode } from '../shared/source/decode/decoder.ts';
import { downloadSource } from '../shared/source/download.ts';
import type { Conversion, Engine, EngineDependencies, Format, SourceFile } from '../shared/tool.ts';
import { WorkerPool } from '../shared/worker/pool.ts';
import { sandboxedNode } from '../shared/worker/sandbox.ts';
import { imagesOf } from './options/steps.ts';
import type { ImageFormat, ImageprocOptions, ImageprocRequest } from './request.ts';
import { imageproc } from './tool.ts';

const SCRIPT = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** Creates the engine: sharp, in up to `size` worker processes. */
export function createEngine(dependencies: EngineDependencies, script = SCRIPT): Engine<typeof imageproc> {
  const { temporary, launcher, size, observer } = dependencies;
  const command = sandboxedNode(dependencies, ['--max-old-space-size=512', script]);
  const decoder = createDecoder(dependencies);
  const workers = new WorkerPool(command, {
    temporary,
    launcher,
    size,
    observer,
    requests: 1000,
    memory: 500,
  });

  async function convert(conversion: Conversion<ImageprocOptions, SourceFile>) {
    const { source, options, format, directory, limits } = conversion;
    if (!isImageFormat(format)) throw new Error(`Unexpected format ${format}.`);
    const images = await downloadImages(conversion, { ...dependencies, decode: decoder.decode });
    const output = join(directory, `image.${format}`);
    const request: ImageprocRequest = { path: source.path, output, format, options, limits, images };
    await workers.run(request, conversion);
    return { outputs: [{ path: output }] };
  }

  const close = async () => {
    await Promise.all([workers.close(), decoder.close()]);
  };
  return { convert, warm: () => workers.warm(), close };
}

/**
 * Downloads the images that operators name, before a worker starts: workers have no network.
 * @throws ConversionError as for the source's download, with the operator's name in front.
 */
async function downloadImages(
  { options, directory, limits, signal, tenant }: Conversion<ImageprocOptions, SourceFile>,
  { egress, decode }: Pick<EngineDependencies, 'egress'> & { readonly decode: Decode },
): Promise<Record<string, string>> {
  const files = [...imagesOf(options.steps)].map(async ([url, operator], index) => {
    const folder = join(directory, `image-${index}`);
    await mkdir(folder);
    const download = { directory: folder, egress, limits, signal, tenant, decode };
    const { path } = await downloadSource(url, download).catch((error: unknown) => {
      if (!(error instanceof ConversionError)) throw error;
      const name = operator === 'composite' ? '-composite' : '-append';
      throw new ConversionError(error.code, `The image for '${name}' could not be loaded. ${error.message}`, {
        cause: error,
      });
    });
    return [url, path] as const;
  });
  return Object.fromEntries(await Promise.all(files));
}

function isImageFormat(format: Format): format is ImageFormat {
  return (imageproc.formats as readonly Format[]).includes(format);
}
