import type { Operation, OperatorName } from '../options/steps.ts';

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
export function engineOf({
  operator,
  value: [, word = ''],
  settings,
}: Operation): 'sharp' | 'both' | 'magick' {
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
