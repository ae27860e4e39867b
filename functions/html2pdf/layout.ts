import { ConversionError } from '../shared/errors.ts';
import { PAPER } from './paper.ts';
import type { Html2pdfOptions } from './tool.ts';

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

/**
 * Works out the paper from the options.
 * @throws ConversionError `BAD_PARAMETER` where the margins leave nothing of it.
 */
export function layoutOf(options: Html2pdfOptions): Layout {
  const [across, along] = PAPER[options.pageSize];
  const given = {
    width: options.pageWidth ?? across,
    height: options.pageHeight ?? along,
  };
  const turned = options.orientation === 'Landscape' && given.height !== 'auto';
  const width = turned && given.height !== 'auto' ? given.height : given.width;
  const height = turned ? given.width : given.height;
  const { marginTop: top, marginBottom: bottom, marginLeft: left, marginRight: right } = options;
  if (width - left - right < 5) throw narrow('--margin-left', '--margin-right', width);
  if (height !== 'auto' && height - top - bottom < 5) throw narrow('--margin-top', '--margin-bottom', height);
  return { width, height, top, bottom, left, right };
}

function narrow(one: string, other: string, side: number): ConversionError {
  return new ConversionError(
    'BAD_PARAMETER',
    `Parameters '${one}' and '${other}' must leave at least 5 mm of the paper's ${side} mm.`,
  );
}
