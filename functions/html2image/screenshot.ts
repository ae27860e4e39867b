import { join } from 'node:path';
import type { Work } from '../shared/chromium/browser/serve.ts';
import { CONTENT_HEIGHT } from '../shared/chromium/page/content-height.ts';
import { evaluate, pageNumber } from '../shared/chromium/page/evaluate.ts';
import { visit } from '../shared/chromium/page/load.ts';
import type { Session } from '../shared/chromium/page/session.ts';
import { ConversionError } from '../shared/errors.ts';
import { type Area, cropArea, imageSize } from './area.ts';
import { capture } from './capture.ts';
import type { Html2imageOptions } from './tool.ts';

/** CSS pixels of the window while a page of unknown height loads. */
const WINDOW = 768;
/** CSS pixels; a hostile page may claim any height. */
const TALLEST = 100_000_000;
/** CSS pixels; a window is not taller, what is below it is captured beyond it. */
const TALLEST_WINDOW = 8192;

/** Visits a page and takes its picture. */
export const takeScreenshot: Work<Html2imageOptions> = async (session, request, tell) => {
  const { options, format, directory, limits } = request;
  const { width, height = WINDOW, zoom: scale } = options;
  const viewport = { width, height: Math.min(height, TALLEST_WINDOW), scale };
  const settled = await visit(session, request, viewport, tell);

  if (options.transparent) {
    const color = { r: 0, g: 0, b: 0, a: 0 };
    await session.protocol.send('Emulation.setDefaultBackgroundColorOverride', { color });
  }
  const area = cropArea(await wantedArea(session, options), options);
  const size = imageSize(area, scale, format, limits);
  const path = join(directory, `page.${format}`);
  await capture(session, area, size, { ...options, format, path });
  return { path, settled };
};

/** The element, the window or the whole page, in CSS pixels of the page. */
async function wantedArea(session: Session, options: Html2imageOptions): Promise<Area> {
  const { width, height, selector, fullPage } = options;
  if (selector !== undefined) return elementArea(session, selector);
  if (height !== undefined && !fullPage) return { x: 0, y: 0, width, height };
  const content = pageNumber(await evaluate(session, CONTENT_HEIGHT), { min: 1, max: TALLEST });
  return { x: 0, y: 0, width, height: content };
}

const ELEMENT_BOX = `(selector) => {
  const element = document.querySelector(selector);
  if (!element) return [];
  const { x, y, width, height } = element.getBoundingClientRect();
  return [x + window.scrollX, y + window.scrollY, width, height];
}`;

async function elementArea(session: Session, selector: string): Promise<Area> {
  const box = await evaluate(session, ELEMENT_BOX, selector).catch(() => undefined);
  const rule = !Array.isArray(box)
    ? 'must be a CSS selector'
    : box.length === 0
      ? 'must match an element of the page'
      : 'must match an element that can be seen';
  const [x, y, width, height] = (Array.isArray(box) ? box : []).map((side: unknown) =>
    pageNumber(side, { min: 0, max: TALLEST }),
  );
  if (width && height) return { x: x ?? 0, y: y ?? 0, width, height };
  throw new ConversionError('BAD_PARAMETER', `Parameter '--selector' ${rule}.`);
}
