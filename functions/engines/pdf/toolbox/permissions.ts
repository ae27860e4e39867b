import { ConversionError } from '../../../shared/errors.ts';
import type { Capabilities } from '../pdf.ts';
import type { ToolboxOptions } from './options.ts';

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
