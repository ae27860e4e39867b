import { join } from 'node:path';
import type { Protocol } from 'puppeteer-core';
import type { Work } from '../shared/chromium/browser/serve.ts';
import { CONTENT_HEIGHT } from '../shared/chromium/page/content-height.ts';
import { evaluate, pageNumber } from '../shared/chromium/page/evaluate.ts';
import { visit } from '../shared/chromium/page/load.ts';
import type { Session } from '../shared/chromium/page/session.ts';
import { addStyleSheet } from '../shared/chromium/page/style-sheet.ts';
import { setViewport, type Viewport } from '../shared/chromium/page/viewport.ts';
import { ConversionError } from '../shared/errors.ts';
import type { Limits } from '../shared/tool.ts';
import { adaptDocument } from './document.ts';
import { makeGray } from './gray.ts';
import { chromiumRanges, keptPages } from './page-ranges.ts';
import { type Layout, layoutOf, PIXEL } from './paper/layout.ts';
import { applyPageRule, pageRuleOf } from './paper/page-rule.ts';
import { print, tooLarge } from './print.ts';
import { footerOf, headerOf, template } from './running-text.ts';
import type { Html2pdfOptions } from './tool.ts';

const INCH = 25.4;
/** Limits of Chromium. */
const SCALE = { min: 0.1, max: 2 };
/** Chromium shrinks content that is wider than the paper to two thirds at most, and so does wkhtmltopdf. */
const SMALLEST_SHRINK = 2 / 3;
/** Pixels; a hostile page may claim any height. */
const TALLEST = 100_000_000;
/** PDF readers support at most 200 inches. */
const LONGEST = 200 * INCH;
/** CSS pixels of a window for paper without a height. */
const WINDOW_HEIGHT = 1047;

/** Repeats table headers and footers on every page, as the browser's own style sheet does for print but not for screen. */
const REPEATED = '@layer { thead, tfoot { break-inside: avoid } }';
/** Keeps Chromium from shrinking the page if anything overflows. */
const UNSHRUNK = 'html, body { overflow-x: clip !important }';

/** Visits a page and prints it. */
export const printPage: Work<Html2pdfOptions> = async (session, request, tell) => {
  const { options, texts, directory, limits } = request;
  const [header, footer] = [headerOf(options, texts), footerOf(options, texts)];
  const given = layoutOf(options, { header: header !== undefined, footer: footer !== undefined });
  let layout = given;
  const settled = await visit(session, request, windowOf(given, options), tell, async () => {
    layout = await applyPageRule(session, given);
    return windowOf(layout, options);
  });

  await adaptDocument(session, options);
  const scale = scaleOf(layout, options);
  const paper = await autoHeight(session, layout, { scale, shrink: options.shrink });
  await checkLength(session, paper, limits);
  const rules = [pageRuleOf(paper), options.shrink ? '' : UNSHRUNK, options.printMedia ? '' : REPEATED];
  await addStyleSheet(session, rules.join('\n'));
  // Printing needs no frames.
  session.frames.stop();

  const { locale, timezone, replacements } = options;
  const facts = { url: request.url, now: new Date(), locale, timezone, replacements };
  const running = { facts, place: paper };
  const settings = {
    ...printSettings(options, paper),
    displayHeaderFooter: header !== undefined || footer !== undefined,
    headerTemplate: template(header, 'header', running),
    footerTemplate: template(footer, 'footer', running),
  };
  const path = join(directory, 'page.pdf');
  const output = { path, limits };
  const kept = keptPages(options);
  const pageCount = await print(session, settings, output);
  // Pages counted from the end, or past it, are only known after everything has been printed once.
  if (kept) {
    await print(session, { ...settings, pageRanges: chromiumRanges(kept, pageCount) }, output);
  }
  if (options.grayscale) await makeGray(path);
  return { path, settled, pageCount };
};

/** The scale at which the caller's viewport fits on the paper. */
function scaleOf({ width, left, right }: Layout, { zoom, shrink, viewport }: Html2pdfOptions): number {
  const room = (width - left - right) / PIXEL;
  const fit = viewport && shrink ? Math.min(1, room / viewport.width) : 1;
  return Math.min(SCALE.max, Math.max(SCALE.min, zoom * fit));
}

/** The window is as large as the printed area of a page, so that scripts see the size at which their output is printed. */
function windowOf(layout: Layout, options: Html2pdfOptions): Viewport {
  const { viewport, shrink } = options;
  if (viewport && !shrink) return { ...viewport, scale: 1 };
  const { width, height, left, right, top, bottom } = layout;
  const pixels = (millimetres: number) =>
    Math.max(1, Math.round(millimetres / PIXEL / scaleOf(layout, options)));
  const tall = height === 'auto' ? WINDOW_HEIGHT : pixels(height - top - bottom);
  return { width: pixels(width - left - right), height: viewport?.height ?? tall, scale: 1 };
}

function printSettings(options: Html2pdfOptions, paper: Paper): Protocol.Page.PrintToPDFRequest {
  const { width, height, top, bottom, left, right, scale } = paper;
  return {
    scale,
    paperWidth: width / INCH,
    paperHeight: height / INCH,
    marginTop: top / INCH,
    marginBottom: bottom / INCH,
    marginLeft: left / INCH,
    marginRight: right / INCH,
    // The caller's values become a rule of the page that overrides all others.
    preferCSSPageSize: true,
    printBackground: options.background,
    generateTaggedPDF: options.tagged,
    generateDocumentOutline: options.outline,
  };
}

interface Paper extends Layout {
  readonly height: number;
  readonly scale: number;
}

const SCROLL_WIDTH = '() => document.documentElement?.scrollWidth ?? 1';

/** For `auto`: as tall as the content when it is laid out as wide as the paper. */
async function autoHeight(
  session: Session,
  layout: Layout,
  { scale, shrink }: { scale: number; shrink: boolean },
): Promise<Paper> {
  const { width, height, left, right, top, bottom } = layout;
  if (height !== 'auto') return { ...layout, height, scale };
  const across = (at: number) => Math.round((width - left - right) / PIXEL / at);
  const window = { height: WINDOW_HEIGHT, scale: 1 };
  await setViewport(session, { ...window, width: across(scale) });
  const content = pageNumber(await evaluate(session, SCROLL_WIDTH), { min: 1, max: TALLEST });
  const fit = shrink ? Math.min(1, Math.max(SMALLEST_SHRINK, across(scale) / content)) : 1;
  const shrunk = Math.max(SCALE.min, scale * fit);
  await setViewport(session, { ...window, width: across(shrunk) });
  const pixels = pageNumber(await evaluate(session, CONTENT_HEIGHT), { min: 1, max: TALLEST });
  // One pixel more, because a fraction of a pixel would start a second page.
  const tall = (pixels + 1) * PIXEL * shrunk + top + bottom;
  if (tall <= LONGEST) return { ...layout, height: tall, scale: shrunk };
  throw new ConversionError(
    'RESULT_TOO_LARGE',
    `A PDF page must be at most ${LONGEST} mm tall, but the content needs ${Math.ceil(tall)} mm.`,
  );
}

/** Rejects a page that is far too long, before it is printed. */
async function checkLength(session: Session, paper: Paper, limits: Limits): Promise<void> {
  const { height, top, bottom, scale } = paper;
  const pixels = pageNumber(await evaluate(session, CONTENT_HEIGHT), { min: 1, max: TALLEST });
  const pages = (pixels * PIXEL * scale) / (height - top - bottom);
  // Twice the limit, because the print layout may differ.
  if (pages > 2 * limits.pages) throw tooLarge(`${limits.pages} pages`);
}
