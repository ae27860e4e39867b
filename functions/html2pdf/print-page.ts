import { join } from 'node:path';
import type { Protocol } from 'puppeteer-core';
import type { PageWork } from '../engines/chromium/browser/serve.ts';
import { readOutput } from '../engines/chromium/output.ts';
import { CONTENT_HEIGHT } from '../engines/chromium/page/content.ts';
import { addStyleSheet, boundedInteger, evaluate } from '../engines/chromium/page/evaluate.ts';
import { type Session, setViewport, USUAL_VIEWPORT } from '../engines/chromium/page/session.ts';
import { visit } from '../engines/chromium/page/visit.ts';
import { OVERLAY, TEXT_LAYER } from '../engines/chromium/request.ts';
import { ConversionError } from '../shared/errors.ts';
import type { ConversionLimits } from '../shared/tool.ts';
import {
  applyDocumentOptions,
  hasFilteredText,
  insertContents,
  numberContents,
  pinToWindow,
  printSheets,
  readHeadings,
  showFilteredText,
} from './document.ts';
import type { Html2pdfOptions } from './options.ts';
import { applyPageRule, pageRuleOf } from './page-rule.ts';
import { type Layout, layoutOf, PIXEL, SCALE, scaleOf, WINDOW_HEIGHT, windowOf } from './paper.ts';
import { chromiumRanges, pagesIn, printToFile, tooLargeError } from './print-to-file.ts';
import {
  hasSections,
  heightOf,
  listOf,
  loads,
  longestOf,
  prepareTexts,
  runningTextOn,
  runningTextsOf,
  sectionsOf,
  showRunningTexts,
  template,
  withDefaultHeader,
} from './running-text.ts';
import { splitHugeTables } from './tables.ts';
import {
  type Bookmark,
  readBookmarks,
  readDestinations,
  readWrittenPdf,
  updatePdf,
  useDeviceColors,
} from './written-pdf.ts';

const INCH = 25.4;
/** Minimum factor by which Chromium and wkhtmltopdf shrink content that is wider than the paper. */
const MIN_SHRINK = 2 / 3;
/** Maximum height of the content in pixels. A hostile page may claim any height. */
const MAX_CONTENT_HEIGHT = 100_000_000;
/** Maximum page height in millimeters. PDF readers support at most 200 inches. */
const MAX_PAGE_HEIGHT = 200 * INCH;

/** Fixes everything that the height of a page as tall as its content depends on. */
const FIXED = { size: true, top: true, right: true, bottom: true, left: true };
/**
 * Repeats table headers and footers on every page, as the browser's own style sheet does for print but not for
 * screen.
 */
const REPEATED = '@layer { thead, tfoot { break-inside: avoid } }';
/** Keeps Chromium from shrinking the page if anything overflows. */
const UNSHRUNK = 'html, body { overflow-x: clip !important }';
/** Keeps a page that is as tall as its content from being divided. */
const UNBROKEN =
  '*, ::before, ::after { break-before: auto !important; break-after: auto !important; page: auto !important }';

/** Visits a page and prints it. */
export const printPage: PageWork<Html2pdfOptions> = async (session, request, { folder, tell }) => {
  const { texts, limits } = request;
  const options = withDefaultHeader(request.options);
  let header = runningTextsOf('header', options, texts);
  let footer = runningTextsOf('footer', options, texts);
  const requestedLayout = layoutOf(options, { top: heightOf(header), bottom: heightOf(footer) });
  let layout = requestedLayout;
  const settled = await visit(session, request, windowOf(requestedLayout, options), tell, {
    loaded: async () => {
      layout = await applyPageRule(session, requestedLayout);
      return windowOf(layout, options);
    },
  });

  if (layout.isNamed && !options.printMedia && scaleOf(layout, options) === 1)
    await printSheets(session, layout, options.mediaFeatures);
  await applyDocumentOptions(session, options);
  if (options.toc) await insertContents(session, options);
  const canBeTagged = await splitHugeTables(session);
  const scale = scaleOf(layout, options);
  const paper = await autoHeight(session, layout, { scale, shrink: options.shrink });
  const rules = [
    pageRuleOf(layout.height === 'auto' ? { ...paper, fixed: FIXED } : paper),
    options.shrink ? '' : UNSHRUNK,
    options.printMedia ? '' : REPEATED,
    layout.height === 'auto' ? UNBROKEN : '',
  ];
  const named = hasSections(header) || hasSections(footer);
  // The browser runs them in this order.
  const [, , title, headings, hasText, hasLanguage] = await Promise.all([
    checkLength(session, paper, limits),
    addStyleSheet(session, rules.join('\n')),
    evaluate(session, '() => document.title').then(String),
    options.outline || named ? readHeadings(session) : [],
    hasFilteredText(session),
    evaluate(session, '() => document.documentElement?.lang').then(Boolean),
  ]);
  // Printing needs no frames.
  session.frames.stop();

  const { locale, timezone, replacements, pageOffset } = options;
  const values = { url: request.url, now: new Date(), locale, timezone, replacements, pageOffset };
  const running = { values, place: paper };
  const runningTexts = [...listOf(header), ...listOf(footer)];
  const differ = header.differ || footer.differ;
  const hasResources = runningTexts.some(loads);
  // Chromium counts pages from 1, has no sections, prints the same on every page, and loads nothing.
  const isNumbered = runningTexts.length > 0 && (pageOffset !== 0 || named || differ || hasResources);
  const survey = {
    ...printSettings(options, paper),
    generateTaggedPDF: options.tagged && canBeTagged,
  };
  const [path, overlay] = [join(folder, 'page.pdf'), join(folder, OVERLAY)];
  const output = { path, limits };
  let bookmarks: readonly Bookmark[] = [];
  if (options.toc || named) {
    await printToFile(session, { ...survey, generateDocumentOutline: true }, output);
    const written = readWrittenPdf(await readOutput(path));
    if (written) bookmarks = readBookmarks(written, headings);
    if (options.toc && written) await numberContents(session, readDestinations(written), options);
  }
  const longest = longestOf({ title, url: request.url, bookmarks });
  const fitting = { values, longest, width: paper.width - paper.left - paper.right };
  header = await prepareTexts(session, header, fitting);
  footer = await prepareTexts(session, footer, fitting);
  const settings = {
    ...survey,
    displayHeaderFooter: runningTexts.length > 0 && !isNumbered,
    headerTemplate: template(header.usual, 'header', running),
    footerTemplate: template(footer.usual, 'footer', running),
  };
  const pageCount = await printToFile(session, settings, output);
  // Page numbers counted from the end, or past it, are only known after everything has been printed once.
  const ranges = chromiumRanges(options, pageCount);
  if (ranges) await printToFile(session, { ...settings, pageRanges: ranges }, output);
  // Must precede the update of the file.
  if (options.imageQuality !== undefined || options.lowQuality) await useDeviceColors(path);
  await updatePdf(path, options.outline ? headings : [], options.grayscale);
  if (hasText) {
    await showFilteredText(session);
    const pageRanges = ranges ? { pageRanges: ranges } : {};
    const layer = {
      ...printSettings(options, paper),
      ...pageRanges,
      printBackground: false,
      generateDocumentOutline: false,
    };
    await printToFile(session, layer, { path: join(folder, TEXT_LAYER), limits });
  }
  const isCut = [...listOf(header), ...listOf(footer)].some((text) => text.isCut);
  const warnings = isCut ? ['A header or footer is too long for one line and was cut.'] : [];
  // Letters are lower than their line.
  if (heightOf(header) > paper.top + 1 || heightOf(footer) > paper.bottom + 1)
    warnings.push('A header or footer may be higher than its margin, and cut by the edge of the paper.');
  const reply = { settled, pageCount, hasText, hasLanguage, warnings };
  if (!isNumbered) return reply;

  const url = request.url;
  const date = values.now.toLocaleDateString(locale, { timeZone: timezone });
  const pages = pagesIn(ranges ?? `1-${pageCount}`).map((page) => {
    const number = page + pageOffset;
    const place = { isFirst: page === 1, number };
    return {
      template:
        template(runningTextOn(header, place), 'header', running) +
        template(runningTextOn(footer, place), 'footer', running),
      values: {
        title,
        url,
        date,
        pageNumber: String(number),
        totalPages: String(pageCount + pageOffset),
        ...sectionsOf(bookmarks, page),
      },
    };
  });
  const isMissing = await showRunningTexts(session, pages, {
    ...paper,
    proxyPort: hasResources ? request.textProxyPort : undefined,
  });
  if (isMissing) warnings.push('A picture or style sheet of a header or footer could not be loaded.');
  await printToFile(session, overlaySettings(paper), { path: overlay, limits });
  await updatePdf(overlay, [], options.grayscale);
  return { ...reply, hasOverlay: true };
};

function overlaySettings({ width, height }: Paper): Protocol.Page.PrintToPDFRequest {
  return {
    paperWidth: width / INCH,
    paperHeight: height / INCH,
    marginTop: 0,
    marginBottom: 0,
    marginLeft: 0,
    marginRight: 0,
    printBackground: true,
    generateTaggedPDF: false,
  };
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
    // Makes Chromium use the caller's values, which are a CSS rule that overrides all others.
    preferCSSPageSize: true,
    printBackground: options.background,
    generateDocumentOutline: options.outline,
  };
}

interface Paper extends Layout {
  readonly height: number;
  readonly scale: number;
}

const SCROLL_WIDTH = '() => document.documentElement?.scrollWidth ?? 1';

/** Returns the height for `auto`: that of the content when it is laid out as wide as the paper. */
async function autoHeight(
  session: Session,
  layout: Layout,
  { scale, shrink }: { scale: number; shrink: boolean },
): Promise<Paper> {
  const { width, height, left, right, top, bottom } = layout;
  if (height !== 'auto') return { ...layout, height, scale };
  const across = (at: number) => Math.round((width - left - right) / PIXEL / at);
  const window = { ...USUAL_VIEWPORT, ...session.viewport, height: WINDOW_HEIGHT };
  await setViewport(session, { ...window, width: across(scale) });
  const content = boundedInteger(await evaluate(session, SCROLL_WIDTH), { min: 1, max: MAX_CONTENT_HEIGHT });
  const fit = shrink ? Math.min(1, Math.max(MIN_SHRINK, across(scale) / content)) : 1;
  const shrunk = Math.max(SCALE.min, scale * fit);
  const narrow = { ...window, width: across(shrunk) };
  await setViewport(session, narrow);
  await pinToWindow(session, narrow);
  const pixels = boundedInteger(await evaluate(session, CONTENT_HEIGHT, true), {
    min: 1,
    max: MAX_CONTENT_HEIGHT,
  });
  // One pixel is added, because a fraction of a pixel would start a second page.
  const tall = (pixels + 1) * PIXEL * shrunk + top + bottom;
  if (tall <= MAX_PAGE_HEIGHT) return { ...layout, height: tall, scale: shrunk };
  throw new ConversionError(
    'RESULT_TOO_LARGE',
    `The content is ${Math.ceil(tall)} mm tall, but '--page-height=auto' allows at most ${MAX_PAGE_HEIGHT} mm.`,
    { parameter: '--page-height' },
  );
}

/** Rejects a page that is far too long, before it is printed. */
async function checkLength(session: Session, paper: Paper, limits: ConversionLimits): Promise<void> {
  const { height, top, bottom, scale } = paper;
  const pixels = boundedInteger(await evaluate(session, CONTENT_HEIGHT, true), {
    min: 1,
    max: MAX_CONTENT_HEIGHT,
  });
  const pages = (pixels * PIXEL * scale) / (height - top - bottom);
  // Twice the limit, because the print layout may differ.
  if (pages > 2 * limits.pages) throw tooLargeError(`${limits.pages} pages`);
}
