import { join } from 'node:path';
import type { Protocol } from 'puppeteer-core';
import type { Work } from '../shared/chromium/browser/serve.ts';
import { CONTENT_HEIGHT } from '../shared/chromium/page/content-height.ts';
import { evaluate, pageNumber } from '../shared/chromium/page/evaluate.ts';
import { visit } from '../shared/chromium/page/load.ts';
import type { Session } from '../shared/chromium/page/session.ts';
import { addStyleSheet } from '../shared/chromium/page/style-sheet.ts';
import { setViewport } from '../shared/chromium/page/viewport.ts';
import { ConversionError } from '../shared/errors.ts';
import type { Limits } from '../shared/tool.ts';
import { type Layout, layoutOf, PIXEL } from './layout.ts';
import { chromiumRanges, keptPages } from './page-ranges.ts';
import { print, tooLarge } from './print.ts';
import { footerOf, headerOf, template } from './running-text.ts';
import type { Html2pdfOptions } from './tool.ts';

const INCH = 25.4;
/** Chromium's bound. */
const SMALLEST = 0.1;
/** Pixels; a hostile page may claim any height. */
const TALLEST = 100_000_000;
/** PDF readers stop at 200 inches. */
const LONGEST = 200 * INCH;

/** Visits a page and prints it. */
export const printPage: Work<Html2pdfOptions> = async (session, request, tell) => {
  const { options, directory, limits } = request;
  const layout = layoutOf(options);
  const settled = await visit(session, request, { ...options.viewport, scale: 1 }, tell);

  if (options.title !== undefined)
    await evaluate(session, '(title) => { document.title = title; }', options.title);
  // Chromium has no such setting; a filter is drawn as a picture of the page.
  if (options.grayscale) await addStyleSheet(session, ':root { filter: grayscale(1) !important; }');
  const scale = await scaleOf(session, layout, options);
  // Paper needs none.
  session.frames.stop();
  const height = await paperHeight(session, layout, scale);
  await checkLength(session, { ...layout, height }, scale, limits);

  const settings = { ...printSettings(options, { ...layout, height }, request.url), scale };
  const output = { path: join(directory, 'page.pdf'), limits };
  const kept = keptPages(options);
  if (!kept) return { path: output.path, settled, pageCount: await print(session, settings, output) };

  // What is counted from the end, or lies past it, is known when all has been printed once.
  const pageCount = await print(session, settings, output);
  await print(session, { ...settings, pageRanges: chromiumRanges(kept, pageCount) }, output);
  return { path: output.path, settled, pageCount };
};

function printSettings(
  options: Html2pdfOptions,
  layout: Layout & { height: number },
  url: string,
): Protocol.Page.PrintToPDFRequest {
  const { width, height, top, bottom, left, right } = layout;
  const header = headerOf(options);
  const footer = footerOf(options);
  const running = { facts: { url, now: new Date() }, place: layout };
  return {
    paperWidth: width / INCH,
    paperHeight: height / INCH,
    marginTop: top / INCH,
    marginBottom: bottom / INCH,
    marginLeft: left / INCH,
    marginRight: right / INCH,
    printBackground: options.background,
    displayHeaderFooter: header !== undefined || footer !== undefined,
    headerTemplate: template(header, 'header', running),
    footerTemplate: template(footer, 'footer', running),
  };
}

/** What is cut off on the screen, too, needs no room on paper. */
const CONTENT_WIDTH = `() => {
  const root = document.documentElement;
  if (!root) return 1;
  const cut = [root, document.body].some((element) => element && /hidden|clip/.test(getComputedStyle(element).overflowX));
  return cut ? 1 : root.scrollWidth;
}`;

/** Answers the scale at which the widest part of the page fits the paper; the window is as wide as the paper then. */
async function scaleOf(session: Session, layout: Layout, options: Html2pdfOptions): Promise<number> {
  const { zoom, shrink, viewport } = options;
  const across = (scale: number) => Math.round((layout.width - layout.left - layout.right) / PIXEL / scale);
  const width = across(zoom);
  await setViewport(session, { width, height: viewport.height, scale: 1 });
  if (!shrink) return zoom;
  const content = pageNumber(await evaluate(session, CONTENT_WIDTH), { min: 1, max: TALLEST });
  if (content <= width) return zoom;
  const scale = Math.max(SMALLEST, zoom / 4, (zoom * width) / content);
  await setViewport(session, { width: across(scale), height: viewport.height, scale: 1 });
  return scale;
}

/** For `auto`: as tall as the content is when it is as wide as the paper. */
async function paperHeight(session: Session, layout: Layout, scale: number): Promise<number> {
  const { height, top, bottom } = layout;
  if (height !== 'auto') return height;
  const content = pageNumber(await evaluate(session, CONTENT_HEIGHT), { min: 1, max: TALLEST });
  // One pixel more: a fraction of one would begin a second page.
  const tall = (content + 1) * PIXEL * scale + top + bottom;
  if (tall <= LONGEST) return tall;
  throw new ConversionError(
    'RESULT_TOO_LARGE',
    `A page of a PDF must be at most ${LONGEST} mm tall, the content needs ${Math.ceil(tall)} mm.`,
  );
}

/** Refuses a page that is far too long before it is printed. */
async function checkLength(
  session: Session,
  { height, top, bottom }: Layout & { height: number },
  scale: number,
  limits: Limits,
): Promise<void> {
  const pixels = pageNumber(await evaluate(session, CONTENT_HEIGHT), { min: 1, max: TALLEST });
  const pages = (pixels * PIXEL * scale) / (height - top - bottom);
  // Twice: print may lay the page out in its own way.
  if (pages > 2 * limits.pages) throw tooLarge(`${limits.pages} pages`);
}
