import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WorkerPool } from '../engines/worker/pool.ts';
import { sandboxedNode } from '../engines/worker/sandbox.ts';
import { ConversionError } from '../shared/errors.ts';
import type { Conversion, Download, Engine, EngineDependencies, Format, SourceFile } from '../shared/tool.ts';
import { imagesOf } from './options/steps.ts';
import type { ImageFormat, ImageprocOptions, ImageprocRequest } from './request.ts';
import { imageproc } from './tool.ts';

const SCRIPT = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** Creates the engine: sharp, in up to `size` worker processes. */
export function createEngine(dependencies: EngineDependencies, script = SCRIPT): Engine<typeof imageproc> {
  const { temporary, launcher, size, download, observer } = dependencies;
  const command = sandboxedNode(dependencies, ['--max-old-space-size=512', script]);
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
    const images = await downloadImages(conversion, download);
    const output = join(directory, `image.${format}`);
    const request: ImageprocRequest = { path: source.path, output, format, options, limits, images };
    await workers.run(request, conversion);
    return { outputs: [{ path: output }] };
  }

  return { convert, warm: () => workers.warm(), close: () => workers.close() };
}

/**
 * Downloads the images that operators name, before a worker starts: workers have no network.
 * @throws ConversionError as for the source's download, with the operator's name in front.
 */
async function downloadImages(
  { options, directory, limits, signal, account }: Conversion<ImageprocOptions, SourceFile>,
  download: Download,
): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const [url, operator] of imagesOf(options.steps)) {
    const folder = join(directory, `image-${Object.keys(files).length}`);
    await mkdir(folder);
    const { path } = await download(url, { directory: folder, limits, signal, account }).catch(
      (error: unknown) => {
        if (!(error instanceof ConversionError)) throw error;
        const name = operator === 'composite' ? '-composite' : '-append';
        throw new ConversionError(
          error.code,
          `The image for '${name}' could not be loaded. ${error.message}`,
          { cause: error },
        );
      },
    );
    files[url] = path;
  }
  return files;
}

function isImageFormat(format: Format): format is ImageFormat {
  return (imageproc.formats as readonly Format[]).includes(format);
}
