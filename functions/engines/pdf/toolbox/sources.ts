import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ConversionError, ofOption, sourceTooLargeError } from '../../../shared/errors.ts';
import { readHead } from '../../../shared/source/file.ts';
import { kindOfBytes } from '../../../shared/source/file-kind.ts';
import {
  type Conversion,
  type Download,
  INFILE,
  type SourceFile,
  type SourcePlace,
  UnconvertedError,
  type UnconvertedSource,
} from '../../../shared/tool.ts';
import { readersOf } from '../../choose-tool.ts';
import type { Capabilities } from '../graph/marks.ts';
import type { ToolboxOptions } from './options.ts';

/** A source, and the parameter that names it. */
export interface NamedSource extends SourceFile, SourcePlace {}

/** A URL that an option names. */
export interface NamedUrl extends SourcePlace {
  readonly url: string;
}

/**
 * Downloads the sources that options name, one after the other. All sources together must not exceed the limit of one.
 * @throws ConversionError as for the source's download, with the option's name prepended.
 */
export async function downloadSources(
  urls: readonly NamedUrl[],
  { source, directory, limits, signal, account }: Conversion<unknown, SourceFile>,
  download: Download,
): Promise<NamedSource[]> {
  let left = limits.sourceBytes - source.bytes;
  const files: NamedSource[] = [];
  for (const { parameter, index, url } of urls) {
    const folder = join(directory, `${parameter.replace(/^-+/, '')}-${index}`);
    await mkdir(folder);
    const tooLarge = () => {
      throw new ConversionError(
        'SOURCE_TOO_LARGE',
        `All sources together exceed the limit: ${sourceTooLargeError(limits.sourceBytes).message}`,
        { parameter, index },
      );
    };
    if (left <= 0) tooLarge();
    const options = { directory: folder, limits: { sourceBytes: left }, signal, account };
    const file = await download(url, options).catch((error: unknown) => {
      if (error instanceof ConversionError && error.code === 'SOURCE_TOO_LARGE') return tooLarge();
      throw ofOption(error, `The file for '${parameter}'`, parameter, index);
    });
    left -= file.bytes;
    files.push({ ...file, parameter, index });
  }
  return files;
}

/** @throws UnconvertedError for sources that are no PDFs but that another tool converts. */
export async function checkPdfs(sources: readonly NamedSource[]): Promise<void> {
  const unconverted: UnconvertedSource[] = [];
  for (const { path, name, contentType, parameter, index } of sources) {
    const head = await readHead(path);
    const [tool] = readersOf({ head, name, contentType }, 'pdf');
    if (tool === 'pdftools') continue;
    if (!tool) {
      const message = `The file for '${parameter}' is neither a PDF nor a file that can be converted to one.`;
      throw new ConversionError('UNSUPPORTED_SOURCE', message, { parameter, index });
    }
    const asPages = parameter === INFILE || parameter === '-append';
    unconverted.push({ parameter, index, tool, asPages });
  }
  const [first] = unconverted;
  if (!first) return;
  const message = `The file for '${first.parameter}' is not a PDF. Convert it with app=${first.tool} first.`;
  throw new UnconvertedError(message, unconverted);
}

/** @throws ConversionError `UNSUPPORTED_SOURCE` for a source that is not a PDF. */
export async function checkPdf({ path }: { readonly path: string }): Promise<void> {
  if (kindOfBytes(await readHead(path))?.readers[0] === 'pdftools') return;
  throw new ConversionError('UNSUPPORTED_SOURCE', 'The source is not a PDF document.');
}

type Action = keyof Capabilities;

/** The permissions that each option needs, any of which is enough. */
const NEEDS: ReadonlyArray<
  readonly [
    option: string,
    isUsed: (options: ToolboxOptions) => boolean,
    actions: readonly Action[],
    what: string,
  ]
> = [
  ['-append', ({ append }) => append.length > 0, ['modifyassembly', 'modifyother'], 'adding pages'],
  ['-rotate', ({ rotations }) => rotations.length > 0, ['modifyassembly', 'modifyother'], 'rotating pages'],
  [
    '-fill',
    ({ fill }) => fill !== undefined,
    ['modifyforms', 'modifyannotations', 'modifyother'],
    'filling in forms',
  ],
  ['-flatten', ({ flatten }) => flatten, ['modifyother'], 'changes'],
  ['-underlay', ({ underlay }) => underlay !== undefined, ['modifyother'], 'changes'],
  ['-stamp', ({ stamp }) => stamp !== undefined, ['modifyother'], 'changes'],
  ['-watermark', ({ mark }) => mark !== undefined, ['modifyother'], 'changes'],
  ['-number', ({ number }) => number !== undefined, ['modifyother'], 'changes'],
  ['-attach', ({ attach }) => attach.length > 0, ['modifyother'], 'changes'],
  ['--pdf-version', ({ pdfVersion }) => pdfVersion !== undefined, ['modifyother'], 'changes'],
  ['-metadata', ({ metadata }) => metadata.length > 0, ['modifyother'], 'changes'],
];

/** Returns the first option that changes a document, or `undefined`. */
export function changingOption(options: ToolboxOptions): string | undefined {
  return NEEDS.find(([, isUsed]) => isUsed(options))?.[0];
}

/** @throws ConversionError `CONVERSION_FAILED` for a change that the permissions of a source do not allow. */
export function checkPermissions(
  capabilities: Capabilities,
  parameter: string,
  options: ToolboxOptions,
): void {
  for (const [option, isUsed, actions, what] of NEEDS) {
    if (!isUsed(options) || actions.some((action) => capabilities[action])) continue;
    const which = parameter === 'infile' ? 'The document' : `The document for '${parameter}'`;
    const message = `${which} does not allow ${what}, which '${option}' requires. Open it with its owner password (-opw), or add -force.`;
    throw new ConversionError('CONVERSION_FAILED', message, { parameter: option });
  }
}
