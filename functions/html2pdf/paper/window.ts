import { deviceNamed } from '../../engines/chromium/devices.ts';
import type { Viewport } from '../../engines/chromium/page/session.ts';
import type { Html2pdfOptions } from '../options.ts';
import { type Layout, PIXEL } from './layout.ts';

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
