import { mkdir, readdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createMagick, editError, MagickError } from '../engines/imagemagick/magick.ts';
import { sandboxedPool } from '../engines/worker/sandbox.ts';
import { ConversionError, ofOption } from '../shared/errors.ts';
import type { Format } from '../shared/formats.ts';
import type { Conversion, Engine, EngineDependencies, SourceFile } from '../shared/tool.ts';
import { coderOf, editArguments, writeArguments } from './command.ts';
import { resultDensity, sharpEncodes } from './encode/options.ts';
import { has, type ImageFormat } from './formats.ts';
import { imagesOf } from './options/steps.ts';
import type { PdfRequest } from './pdf.ts';
import { needsAllFrames, planOf } from './plan.ts';
import type { Frames, ImageprocOptions, ImageprocRequest, ImageprocResult } from './request.ts';
import { type Decoding, missingFrameError } from './source/detect.ts';
import { imageproc } from './tool.ts';

type ImageConversion = Conversion<ImageprocOptions, SourceFile>;

const SCRIPT = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** Warns that part of an image is missing. */
const DAMAGED = 'The image is damaged. Only its readable part was converted.';

/** Options for reading overlays. */
const PLAIN: Partial<ImageprocOptions> = {
  autoOrient: true,
  frame: 0,
  strip: true,
  keep: [],
  density: undefined,
};

/** Ignores the sizes in headers, which are often wrong. */
const LENIENT = ['-define', 'bmp:ignore-filesize=true'] as const;

/** Formats of ImageMagick whose images are pages or frames of one document. */
const PAGED: readonly string[] = ['tiff', 'gif', 'webp', 'dcm', 'dcx', 'mng'];

/** The quality of JPEGs in a PDF, for kinds of source that are compressed with loss. Those below 90 store half of the colors. */
const LOSSY: Readonly<Record<string, number>> = { jpg: 92, webp: 89, avif: 89, heic: 89 };
const PDF_QUALITY = 92;

/** Writes the delay of each frame into its name, because operators change the order and number of frames. */
const KEEP_DELAY = ['-set', 'filename:delay', '%T'] as const;

/**
 * Creates the engine: up to `size` worker processes with sharp, and as many with ImageMagick for operations that
 * sharp does not support.
 */
export function createEngine(dependencies: EngineDependencies, script = SCRIPT): Engine<typeof imageproc> {
  const sharp = sandboxedPool(dependencies, { script, heap: 512, requests: 1000, cost: 65, memory: 500 });
  const magick = createMagick(dependencies);

  async function convert(conversion: ImageConversion) {
    const { source, options, format, directory } = conversion;
    if (!isImageFormat(format)) throw new Error(`Unexpected format ${format}.`);
    const warnings = new Set<string>();
    const images = await loadImages(conversion, warnings);
    const output = `image.${format}`;
    const parts = planOf(options, format);
    const operations = parts.flatMap((part) => part.operations);
    const allFrames = has(format, 'frames') || operations.some(needsAllFrames);

    let image: Frames = { frames: [relative(directory, source.path)] };
    let isWritten = false;
    let sourceKind: string | undefined;
    for (const [index, part] of parts.entries()) {
      const isLast = index === parts.length - 1 && format !== 'pdf';
      const prefix = `part-${index}-`;
      if (part.engine === 'magick') {
        const edit = editArguments({ ...image, operations: part.operations, images, options });
        const write = isLast ? writeArguments(format, options, image) : KEEP_DELAY;
        const target = isLast ? `${coderOf(format)}:${output}` : `png:${prefix}%d-%[filename:delay].png`;
        const inputs = [...image.frames, ...Object.values(images)];
        await magick
          .run([...edit, ...write, target], { inputs, outputs: '.' }, conversion)
          .catch(rethrow(editError));
        isWritten = isLast;
        if (!isLast) {
          const frames = await writtenFrames(prefix, conversion);
          const animation = image.animation && { ...image.animation, delay: frames.map(delayOf) };
          image = { ...image, isBilevel: false, frames, animation };
        }
        continue;
      }
      const request: ImageprocRequest = {
        paths: isLast && !has(format, 'frames') ? image.frames.slice(0, 1) : image.frames,
        operations: part.operations,
        ...(isLast && sharpEncodes(format, options) && { output: { path: output, format } }),
        prefix,
        allFrames,
        keepsSource: format === 'pdf' && parts.length === 1 && keepsSource(options),
        // Later parts get complete frames.
        options: index === 0 ? options : { ...options, frame: undefined },
        limits: conversion.limits,
      };
      const result = await runSharp(request, conversion, warnings);
      isWritten = 'written' in result;
      if (result.warning) warnings.add(result.warning);
      sourceKind ??= result.kind;
      if (!('written' in result)) image = { ...image, ...result };
    }
    if (format === 'pdf') await writePdf(image, sourceKind, output, conversion);
    else if (!isWritten) await write(image, format, output, conversion);
    const pages = format === 'pdf' ? { pages: image.frames.length } : {};
    return { outputs: [{ path: join(directory, output), ...pages }], sourceKind, warnings: [...warnings] };
  }

  /** Writes several frames as one file. After sharp has edited them, only ImageMagick can do that. */
  async function write(image: Frames, format: ImageFormat, output: string, conversion: ImageConversion) {
    const { options } = conversion;
    const args = [
      ...editArguments({ ...image, operations: [], images: {}, options }),
      ...writeArguments(format, options, image),
      `${coderOf(format)}:${output}`,
    ];
    const files = { inputs: image.frames, outputs: [output] };
    await magick.run(args, files, conversion).catch(rethrow(editError));
  }

  /** Writes a PDF with a page for each frame. */
  async function writePdf(
    { frames, density }: Frames,
    kind: string | undefined,
    target: string,
    conversion: ImageConversion,
  ) {
    const { page: paper, margin, fit, quality, compress, autoOrient, strip, keep } = conversion.options;
    const lossy = kind === undefined ? undefined : LOSSY[kind];
    const isChosen = compress === undefined ? quality !== undefined : compress === 'JPEG';
    const byDefault = lossy === undefined ? 'photos' : 'smaller';
    const args: PdfRequest = {
      frames,
      target,
      density,
      layout: { paper, margin, fit },
      jpegs: isChosen ? 'all' : compress ? 'none' : byDefault,
      quality: quality || lossy || PDF_QUALITY,
      autoOrient,
      strip: strip && keep.every((each) => each === 'icc'),
    };
    const files = { inputs: frames, outputs: [target] };
    await sharp.run({ operation: 'pdf', arguments: args, ...files }, conversion);
  }

  function ask(request: ImageprocRequest, conversion: ImageConversion) {
    const files = { inputs: request.paths, outputs: '.' } as const;
    return sharp.run<ImageprocResult>({ operation: 'convert', arguments: request, ...files }, conversion);
  }

  /** Runs sharp. A source that it cannot read is decoded by ImageMagick first. */
  async function runSharp(request: ImageprocRequest, conversion: ImageConversion, warnings: Set<string>) {
    const result = await ask(request, conversion);
    if (!('foreign' in result)) return result;
    const damaged = warnings.size;
    const paths = await decode(result.foreign, request, conversion, warnings);
    const isIntact = warnings.size === damaged;
    if (request.keepsSource && result.foreign.kind === 'jp2' && isIntact) {
      const density = resultDensity(request.options, undefined);
      return { frames: request.paths, density, kind: undefined, warning: undefined };
    }
    const options = { ...request.options, frame: undefined };
    const again = await ask({ ...request, paths, options }, conversion);
    if ('foreign' in again) throw new ConversionError('CORRUPT_SOURCE', 'The image is damaged.');
    return { ...again, kind: result.foreign.kind };
  }

  /** Decodes a source to files that sharp reads, and returns their paths. */
  async function decode(
    { kind, frame, keepsColors, isDamaged, path: repaired, variant }: Decoding,
    { paths: [source], allFrames, options, prefix }: ImageprocRequest,
    conversion: ImageConversion,
    warnings: Set<string>,
  ): Promise<string[]> {
    const path = repaired ?? source!;
    // ImageMagick substitutes a file's only image for any frame.
    if (options.frame) {
      const count = await countFrames(kind, path, conversion);
      if (count > 0 && options.frame >= count) throw missingFrameError(options.frame, count);
    }
    const isWhole = allFrames && options.frame === undefined && PAGED.includes(kind);
    const decoded = `${prefix}decoded-`;
    const format = keepsColors ? 'tiff' : 'png';
    const args = [
      ...LENIENT,
      '-define',
      'png:compression-level=1',
      `${coderOf(kind)}:${path}${isWhole ? '' : `[${frame}]`}`,
      ...(options.autoOrient ? ['-auto-orient'] : []),
      ...(keepsColors ? [] : ['-colorspace', 'sRGB']),
      `${format}:${decoded}%d.${format}`,
    ];
    const outcome = await magick.run(args, { inputs: [path], outputs: '.' }, conversion).catch(asMagickError);
    const failed = outcome instanceof MagickError ? outcome : undefined;
    const frames = await writtenFrames(decoded, conversion);
    // ImageMagick has written as much of a damaged file as it could read.
    if (frames.length > 0) {
      if (failed || (isDamaged && 'isDamaged' in outcome && outcome.isDamaged)) warnings.add(DAMAGED);
      return frames;
    }
    if (failed?.kind === 'resource') {
      const message = `The source needs more memory than allowed. The maximum is ${conversion.limits.pixels} pixels in total.`;
      throw new ConversionError('SOURCE_TOO_LARGE', message, { cause: failed });
    }
    if (variant !== undefined) {
      const message = `The source is ${variant}, which is not supported.`;
      throw new ConversionError('UNSUPPORTED_SOURCE', message, { cause: failed });
    }
    throw new ConversionError('CORRUPT_SOURCE', 'The image is damaged.', { cause: failed });
  }

  /** Returns how many frames ImageMagick can read, or 0 if it cannot read all of them. */
  async function countFrames(kind: Decoding['kind'], path: string, conversion: ImageConversion) {
    const args = [...LENIENT, `${coderOf(kind)}:${path}`, '-sample', '1x1!', 'png:count-%d.png'];
    const run = magick.run(args, { inputs: [path], outputs: '.' }, conversion);
    const isComplete = await run.then(
      () => true,
      () => false,
    );
    conversion.signal.throwIfAborted();
    const count = (await writtenFrames('count-', conversion)).length;
    return isComplete ? count : 0;
  }

  /**
   * Downloads the images that operators name, before an engine starts, because engines have no network. Then sharp
   * decodes them like the source.
   * @throws ConversionError as for the source's download, with the operator's name prepended.
   */
  async function loadImages(
    conversion: ImageConversion,
    warnings: Set<string>,
  ): Promise<Record<string, string>> {
    const { options, directory, limits, signal, account } = conversion;
    const paths = new Map<string, { readonly path: string; readonly named: (error: unknown) => never }>();
    for (const [url, option] of imagesOf(options.steps)) {
      const folder = join(directory, `image-${paths.size}`);
      await mkdir(folder);
      const named = rethrow((error) => ofOption(error, `The image for '${option}'`, option));
      const { path } = await dependencies
        .download(url, { directory: folder, limits, signal, account })
        .catch(named);
      paths.set(url, { path: relative(directory, path), named });
    }
    const files: Record<string, string> = {};
    for (const [url, { path, named }] of paths) {
      const request: ImageprocRequest = {
        paths: [path],
        operations: [],
        prefix: `${dirname(path)}-`,
        allFrames: false,
        limits,
        options: { ...options, ...PLAIN },
      };
      const result = await runSharp(request, conversion, warnings).catch(named);
      if ('frames' in result) files[url] = result.frames[0]!;
    }
    return files;
  }

  return {
    convert,
    warm: () => sharp.warm(),
    close: async () => {
      await Promise.all([sharp.close(), magick.close()]);
    },
  };
}

/** Whether a JPEG or a JPEG 2000 becomes part of a PDF byte for byte: nothing changes its pixels. */
function keepsSource({ steps, quality, define, type }: ImageprocOptions): boolean {
  return steps.length === 0 && quality === undefined && define.length === 0 && type === undefined;
}

/** Returns the milliseconds in the name of a frame. ImageMagick counts hundredths of a second. */
function delayOf(path: string): number {
  return Number(/-(\d+)\.png$/.exec(path)?.[1] ?? 0) * 10;
}

function rethrow(convert: (thrown: unknown) => unknown) {
  return (thrown: unknown): never => {
    throw convert(thrown);
  };
}

function asMagickError(thrown: unknown): MagickError {
  if (thrown instanceof MagickError) return thrown;
  throw thrown;
}

/** Returns the frames that ImageMagick has written, in order. They are numbered as in their source. */
async function writtenFrames(prefix: string, { directory }: ImageConversion): Promise<string[]> {
  const frames = (await readdir(directory)).filter((name) => name.startsWith(prefix));
  const numberOf = (name: string) => Number.parseInt(name.slice(prefix.length), 10);
  return frames.sort((one, other) => numberOf(one) - numberOf(other));
}

function isImageFormat(format: Format): format is ImageFormat {
  return (imageproc.formats as readonly Format[]).includes(format);
}
