import { ConversionError } from '../shared/errors.ts';
import { PAPER } from './paper.ts';

/** Millimetres. */
export interface Layout {
  readonly width: number;
  readonly height: number | 'auto';
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

/** Millimetres of a CSS pixel. */
export const PIXEL = 25.4 / 96;

/** The options that a layout depends on; lengths in millimetres. */
interface PaperOptions {
  readonly pageSize: keyof typeof PAPER;
  readonly pageWidth: number | undefined;
  readonly pageHeight: number | 'auto' | undefined;
  readonly orientation: 'Portrait' | 'Landscape';
  readonly marginTop: number;
  readonly marginBottom: number;
  readonly marginLeft: number;
  readonly marginRight: number;
}

/** Returns the size of the paper and its margins. */
export function layoutOf(options: PaperOptions): Layout {
  const [across, along] = PAPER[options.pageSize];
  const given = {
    width: options.pageWidth ?? across,
    height: options.pageHeight ?? along,
  };
  const turned = options.orientation === 'Landscape' && given.height !== 'auto';
  const width = turned && given.height !== 'auto' ? given.height : given.width;
  const height = turned ? given.width : given.height;
  const { marginTop: top, marginBottom: bottom, marginLeft: left, marginRight: right } = options;
  return { width, height, top, bottom, left, right };
}

/** Yields an error for each direction in which the margins leave less than 5 mm of the paper. */
export function* checkMargins({
  width,
  height,
  top,
  bottom,
  left,
  right,
}: Layout): Generator<ConversionError> {
  if (width - left - right < 5) yield tooNarrow('--margin-left', '--margin-right', width);
  if (height !== 'auto' && height - top - bottom < 5) {
    yield tooNarrow('--margin-top', '--margin-bottom', height);
  }
}

function tooNarrow(one: string, other: string, side: number): ConversionError {
  return new ConversionError(
    'BAD_PARAMETER',
    `Parameters '${one}' and '${other}' must leave at least 5 mm of the paper's ${side} mm.`,
  );
}
