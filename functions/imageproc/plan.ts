import { sharpEncodes } from './encode/options.ts';
import type { ImageFormat } from './formats.ts';
import { type Operation, type OperatorName, operatorsOf } from './options/steps.ts';
import type { ImageprocOptions } from './request.ts';

/** Consecutive operators that one engine runs. */
interface Part {
  readonly engine: 'sharp' | 'magick';
  readonly operations: readonly Operation[];
}

/** Operators of ImageMagick that need all frames together. */
const LISTS: ReadonlySet<OperatorName> = new Set([
  ...(['-coalesce', '-layers', '-reverse', '-smush', '+smush', '-swap', '-insert', '-delete'] as const),
  ...(['-duplicate', '-morph', '-evaluate-sequence', '-mosaic', '-combine', '-append', '+append'] as const),
]);

/** Whether an operator joins, orders or compares all frames of a source. */
export function needsAllFrames({ operator, value }: Operation): boolean {
  return LISTS.has(operator) && !(/^[-+]append/.test(operator) && value.length > 1);
}

/**
 * Divides a conversion between the engines. The first part runs in sharp, which decodes the source. Each part takes
 * as many operators as it can, and the last one writes the result.
 */
export function planOf(options: ImageprocOptions, format: ImageFormat): readonly Part[] {
  const parts: { engine: Part['engine']; operations: Operation[] }[] = [{ engine: 'sharp', operations: [] }];
  const last = () => parts.at(-1)!;
  const begin = (engine: Part['engine']) => {
    if (last().engine !== engine) parts.push({ engine, operations: [] });
  };
  for (const operation of operatorsOf(options.steps)) {
    const engine = engineOf(operation);
    if (engine !== 'both') begin(engine);
    last().operations.push(operation);
  }
  // Both engines write frames, which the worker puts into the PDF.
  if (format === 'pdf') return parts;
  if (!sharpEncodes(format, options)) begin('magick');
  if (format === 'avif') begin('sharp');
  return parts;
}

/** The operators that sharp runs. */
const SHARP = [
  ...([
    '-resize',
    '-thumbnail',
    '-crop',
    '-extent',
    '-border',
    '-shave',
    '-rotate',
    '-flip',
    '-flop',
  ] as const),
  ...(['-negate', '-colorspace', '-flatten', '-alpha', '-rounded-corners', '-annotate'] as const),
] satisfies readonly OperatorName[];

export type SharpOperator = (typeof SHARP)[number];
export type SmartGravity = 'Attention' | 'Entropy';

export function isSharpOperator(operator: OperatorName): operator is SharpOperator {
  return (SHARP as readonly OperatorName[]).includes(operator);
}

export function isSmart(gravity: string | undefined): gravity is SmartGravity {
  return gravity === 'Attention' || gravity === 'Entropy';
}

/** Returns the engine that runs an operator, or both if their results are the same. */
function engineOf({ operator, value: [, word = ''], settings }: Operation): 'sharp' | 'both' | 'magick' {
  if (!isSharpOperator(operator)) return 'magick';
  switch (operator) {
    case '-rotate':
      return Number(word) % 90 === 0 ? 'both' : 'magick';
    case '-colorspace':
      return word === 'Gray' || word === 'sRGB' ? 'both' : 'magick';
    case '-alpha':
      return /^(remove|off|opaque)$/.test(word) ? 'both' : 'magick';
    // ImageMagick cannot find the most interesting part of an image.
    case '-crop':
    case '-extent':
      return isSmart(settings['-gravity']) ? 'sharp' : 'both';
    // ImageMagick has no such operator.
    case '-rounded-corners':
      return 'sharp';
    // librsvg finds and shapes fonts for all scripts.
    case '-annotate':
      return 'sharp';
    default:
      return 'both';
  }
}
