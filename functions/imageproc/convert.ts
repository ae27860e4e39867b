import { mkdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EngineClient } from '../engines/client.ts';
import { sandboxedNode } from '../engines/worker/sandbox.ts';
import { ConversionError } from '../shared/errors.ts';
import type { Conversion, Download, Engine, EngineDependencies, Format, SourceFile } from '../shared/tool.ts';
import { imagesOf } from './options/steps.ts';
import type { ImageFormat, ImageprocOptions, ImageprocRequest } from './request.ts';
import { imageproc } from './tool.ts';

const SCRIPT = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** Creates the engine: sharp, in up to `size` worker processes. */
export function createEngine(dependencies: EngineDependencies, script = SCRIPT): Engine<typeof imageproc> {
  const command = sandboxedNode(dependencies, ['--max-old-space-size=512', script]);
  const client = new EngineClient({ command, requests: 1000, memory: 500 }, dependencies);

  async function convert(conversion: Conversion<ImageprocOptions, SourceFile>) {
    const { source, options, format, directory, limits } = conversion;
    if (!isImageFormat(format)) throw new Error(`Unexpected format ${format}.`);
    const images = await downloadImages(conversion, dependencies.download);
    const [path, output] = [relative(directory, source.path), `image.${format}`];
    const given: ImageprocRequest = { path, output, format, options, limits, images };
    const files = { inputs: [path, ...Object.values(images)], outputs: [output] };
    await client.run({ operation: 'convert', arguments: given, ...files }, conversion);
    return { outputs: [{ path: join(directory, output) }] };
  }

  return { convert, warm: () => client.warm(), close: () => client.close() };
}

/**
 * Downloads the images that operators name and returns their file names, before a worker starts: workers have no network.
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
    files[url] = relative(directory, path);
  }
  return files;
}

function isImageFormat(format: Format): format is ImageFormat {
  return (imageproc.formats as readonly Format[]).includes(format);
}
