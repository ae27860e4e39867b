import { deviceNamed } from '../engines/chromium/devices.ts';
import type { Viewport } from '../engines/chromium/page/session.ts';
import { ConversionError } from '../shared/errors.ts';
import { PAPER } from '../shared/paper.ts';
import type { Html2pdfOptions } from './options.ts';

/** Lengths in millimeters. */
export interface Sides {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

/** Lengths in millimeters. */
export interface Layout extends Sides {
  readonly width: number;
  readonly height: number | 'auto';
  /** Whether the caller set the size and each margin. The page's own `@page` rules do not change those. */
  readonly fixed: { readonly size: boolean } & Readonly<Record<keyof Sides, boolean>>;
  /** Whether the size is that of the page's own `@page` rule. */
  readonly isNamed: boolean;
  /** Least margins that leave space for a header and a footer. The page's own rules do not make them smaller. */
  readonly least: { readonly top: number; readonly bottom: number };
}

/** Millimeters per CSS pixel. */
export const PIXEL = 25.4 / 96;

/** Default margin in millimeters, if neither the caller nor the page sets one. */
const USUAL_MARGIN = 10;

/** The options that a layout depends on; lengths in millimeters. */
interface PaperOptions {
  readonly pageSize: keyof typeof PAPER | undefined;
  readonly pageWidth: number | undefined;
  readonly pageHeight: number | 'auto' | undefined;
  readonly orientation: 'Portrait' | 'Landscape' | undefined;
  readonly marginTop: number | undefined;
  readonly marginBottom: number | undefined;
  readonly marginLeft: number | undefined;
  readonly marginRight: number | undefined;
  readonly preferCssPageSize: boolean;
}

/** Returns the size of the paper and its margins. `least` are the heights of the header and the footer. */
export function layoutOf(options: PaperOptions, least: Layout['least'] = { top: 0, bottom: 0 }): Layout {
  const { pageSize, pageWidth, pageHeight, orientation, preferCssPageSize } = options;
  const { marginTop, marginBottom, marginLeft, marginRight } = options;
  const [across, along] = PAPER[pageSize ?? 'A4'];
  const page = { width: pageWidth ?? across, height: pageHeight ?? along };
  const turned = orientation === 'Landscape' && page.height !== 'auto';
  const isFixed = (value: unknown) => value !== undefined || !preferCssPageSize;
  return {
    width: turned && page.height !== 'auto' ? page.height : page.width,
    height: turned ? page.width : page.height,
    top: marginTop ?? USUAL_MARGIN,
    bottom: marginBottom ?? USUAL_MARGIN,
    left: marginLeft ?? USUAL_MARGIN,
    right: marginRight ?? USUAL_MARGIN,
    fixed: {
      size: isFixed(pageSize ?? pageWidth ?? pageHeight ?? orientation),
      top: isFixed(marginTop),
      bottom: isFixed(marginBottom),
      left: isFixed(marginLeft),
      right: isFixed(marginRight),
    },
    isNamed: false,
    least,
  };
}

/** Yields an error for each direction in which the margins leave less than 5 mm of paper. */
export function* checkMargins(options: PaperOptions): Generator<ConversionError> {
  const { width, height, top, bottom, left, right } = layoutOf(options);
  if (width - left - right < 5) {
    yield noSpaceError('width', width, { '--margin-left': left, '--margin-right': right });
  }
  if (height !== 'auto' && height - top - bottom < 5) {
    yield noSpaceError('height', height, { '--margin-top': top, '--margin-bottom': bottom });
  }
}

/** Returns the error for two margins, whose parameter is the larger one. */
function noSpaceError(
  side: string,
  length: number,
  margins: Readonly<Record<string, number>>,
): ConversionError {
  const rounded = (millimeters: number) => `${Math.round(10 * millimeters) / 10} mm`;
  const sorted = Object.entries(margins).sort(([, one], [, other]) => other - one);
  const texts = sorted.map(([name, margin]) => `'${name}' (${rounded(margin)})`);
  return new ConversionError(
    'BAD_PARAMETER',
    `Parameters ${texts.join(' and ')} must leave at least 5 mm of the paper's ${side} of ${rounded(length)}.`,
    { parameter: sorted[0]![0] },
  );
}

/** Limits of Chromium's print scale. */
export const SCALE = { min: 0.1, max: 2 };
/** Height of the window in CSS pixels for paper without a height. */
export const WINDOW_HEIGHT = 1047;

/** Returns the scale at which the caller's window fits on the paper. A device always fills it. */
export function scaleOf({ width, left, right }: Layout, options: Html2pdfOptions): number {
  const window = givenWindow(options);
  const room = (width - left - right) / PIXEL;
  const fit = window ? room / window.width : 1;
  const scale = options.zoom * (options.viewport ? Math.min(1, fit) : fit);
  return Math.min(SCALE.max, Math.max(SCALE.min, scale));
}

function givenWindow({ viewport, device }: Html2pdfOptions) {
  return viewport ?? (device === undefined ? undefined : deviceNamed(device)?.viewport);
}

/**
 * Returns a window as large as the printed area of a page, so that scripts see the size at which their output is
 * printed.
 */
export function windowOf(layout: Layout, options: Html2pdfOptions): Viewport {
  const { width, height, left, right, top, bottom } = layout;
  const pixels = (millimeters: number) =>
    Math.max(1, Math.round(millimeters / PIXEL / scaleOf(layout, options)));
  const tall = height === 'auto' ? WINDOW_HEIGHT : pixels(height - top - bottom);
  const screen = options.device === undefined ? undefined : deviceNamed(options.device)?.viewport;
  return {
    width: pixels(width - left - right),
    height: givenWindow(options)?.height ?? tall,
    scale: screen?.deviceScaleFactor ?? 1,
    screen,
  };
}
