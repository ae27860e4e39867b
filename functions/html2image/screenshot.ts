import { join } from 'node:path';
import type { PageWork } from '../engines/chromium/browser/serve.ts';
import { deviceNamed } from '../engines/chromium/devices.ts';
import { boundedInteger, evaluate } from '../engines/chromium/page/evaluate.ts';
import type { Session, Viewport } from '../engines/chromium/page/session.ts';
import { visit } from '../engines/chromium/page/visit.ts';
import { ConversionError } from '../shared/errors.ts';
import { checkImageSize } from '../shared/formats.ts';
import { applyGeometry, parseGeometry } from '../shared/options/geometry.ts';
import { type Area, capture, cropArea, imageSize } from './capture.ts';
import { contentWidth, layOutFullPage } from './full-page.ts';
import { type Html2imageOptions, type ImageFormat, USUAL_WIDTH } from './tool.ts';

/** Height of the window in CSS pixels while a page of unknown height loads. */
const WINDOW_HEIGHT = 768;
/** Maximum position in CSS pixels. A hostile page may claim any. */
const MAX_POSITION = 100_000_000;
/** Maximum height of the window in CSS pixels. Anything below it is captured beyond the window. */
const MAX_WINDOW_HEIGHT = 8192;

/** Visits a page and takes a screenshot of it. */
export const takeScreenshot: PageWork<Html2imageOptions> = async (session, request, { folder, tell }) => {
  const { options, format, limits } = request;
  const screen = options.device === undefined ? undefined : deviceNamed(options.device)?.viewport;
  const height = options.height ?? screen?.height ?? WINDOW_HEIGHT;
  const zoom = options.zoom ?? screen?.deviceScaleFactor ?? 1;
  // As in wkhtmltoimage, the width is a minimum, unless the caller has set it.
  const widens = isFullPage(options) && (options.smartWidth ?? options.width === undefined);
  const viewport: Viewport = {
    width: options.width ?? screen?.width ?? USUAL_WIDTH,
    height: Math.min(height, MAX_WINDOW_HEIGHT),
    scale: zoom,
    mobile: screen?.isMobile ?? false,
    screen,
  };
  const settled = await visit(session, request, viewport, tell, {
    isWhole: options.selector !== undefined || isFullPage(options),
    settled: async () =>
      widens ? { ...viewport, width: Math.max(viewport.width, await contentWidth(session)) } : viewport,
  });

  if (options.transparent) {
    const color = { r: 0, g: 0, b: 0, a: 0 };
    await session.protocol.send('Emulation.setDefaultBackgroundColorOverride', { color });
  }
  const window = session.viewport ?? viewport;
  const area = cropArea(await wantedArea(session, options, { window, widens }), { ...options, zoom });
  const size = imageSize(area, zoom, format, limits);
  const geometry = options.resize === undefined ? undefined : parseGeometry(options.resize);
  const target = geometry && applyGeometry(geometry, size);
  if (target) checkImageSize(target, { maxPixels: limits.pixels, format });
  const path = join(folder, `page.${format}`);
  await capture(session, area, size, { ...options, zoom, target, format: format as ImageFormat, path });
  return { settled };
};

function isFullPage({ height, selector, fullPage }: Html2imageOptions): boolean {
  return selector === undefined && (height === undefined || fullPage);
}

/** Returns the area of the element, the window or the whole page, in CSS pixels of the page. */
async function wantedArea(
  session: Session,
  options: Html2imageOptions,
  { window, widens }: { readonly window: Viewport; readonly widens: boolean },
): Promise<Area> {
  const { width, height, scale } = window;
  const { selector } = options;
  if (selector !== undefined)
    return elementArea(session, selector, { left: await windowLeft(session), zoom: scale });
  if (!isFullPage(options))
    return { x: await windowLeft(session), y: 0, width, height: options.height ?? height };
  // Content that overflows by a percentage stays wider than a window that was widened to fit it.
  const [left, content, tall] = await Promise.all([
    windowLeft(session),
    widens ? contentWidth(session) : width,
    layOutFullPage(session, window),
  ]);
  const overflow = Math.max(0, content - width);
  return { x: Math.max(0, left - overflow), y: 0, width: width + overflow, height: tall };
}

/**
 * Returns the distance of the window from the left edge of the page in CSS pixels. A page that is read from right to
 * left starts at its right edge.
 */
async function windowLeft({ protocol }: Session): Promise<number> {
  const { cssLayoutViewport } = await protocol.send('Page.getLayoutMetrics');
  return cssLayoutViewport.pageX;
}

/**
 * Returns the edges of the element, rounded to pixels of the image. Scrolls it into view in the elements around it, but
 * not in the window, because the image can show all of the page.
 */
const ELEMENT_BOX = `(selector, windowLeft, zoom) => {
  const element = document.querySelector(selector);
  if (!element) return [];
  const { scrollX, scrollY } = window;
  element.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
  window.scrollTo({ left: scrollX, top: scrollY, behavior: 'instant' });
  const { left, top, width, height } = element.getBoundingClientRect();
  const place = (start, length) => {
    const from = Math.max(0, Math.round(start * zoom));
    const end = Math.round((start + length) * zoom);
    return [from, length > 0 && end > 0 ? Math.max(1, end - from) : 0];
  };
  return [...place(left + windowLeft, width), ...place(top + window.scrollY, height)];
}`;

async function elementArea(
  session: Session,
  selector: string,
  { left, zoom }: { readonly left: number; readonly zoom: number },
): Promise<Area> {
  const box = await evaluate(session, ELEMENT_BOX, selector, left, zoom).catch(() => undefined);
  const rule = !Array.isArray(box)
    ? 'must be a CSS selector'
    : box.length === 0
      ? 'must match an element of the page'
      : 'must match a visible element';
  const [x, width, y, height] = (Array.isArray(box) ? box : []).map(
    (side: unknown) => boundedInteger(side, { min: 0, max: MAX_POSITION }) / zoom,
  );
  if (width && height) return { x: x ?? 0, y: y ?? 0, width, height };
  throw new ConversionError('BAD_PARAMETER', `Parameter '--selector' ${rule}.`, { parameter: '--selector' });
}
