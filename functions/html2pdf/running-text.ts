import { addStyleSheet, boundedInteger, evaluate } from '../engines/chromium/page/evaluate.ts';
import type { Session } from '../engines/chromium/page/session.ts';
import { unblock } from '../engines/chromium/page/wait/virtual-time.ts';
import { ConversionError } from '../shared/errors.ts';
import { within } from '../shared/time.ts';
import type { Html2pdfOptions } from './options.ts';
import { PIXEL } from './paper.ts';
import type { Bookmark } from './written-pdf.ts';

/** A header or footer: HTML, or three texts and a line. */
interface RunningText {
  readonly html: string | undefined;
  readonly texts: readonly [left: string, center: string, right: string];
  readonly line: boolean;
  readonly fontName: string;
  readonly fontSize: number;
  readonly spacing: number;
  /** Whether the texts are too long for one line, so that their ends are cut. */
  readonly isCut?: boolean;
}

/** Values for a template's placeholders, except page numbers. */
interface TemplateValues {
  readonly url: string;
  readonly now: Date;
  readonly locale: string;
  readonly timezone: string;
  /** Number added to all page numbers. */
  readonly pageOffset?: number;
  /** Placeholders that the caller defined. */
  readonly replacements: ReadonlyArray<{ readonly name: string; readonly value: string }>;
}

type Edge = 'header' | 'footer';
type Texts = Readonly<Partial<Record<`${Edge}${'' | 'First' | 'Even'}Html`, string>>>;

/** Top margin in millimeters that the default header needs. */
const HEADER_MARGIN = 20;

/** Replaces `--default-header` by the options that it stands for in wkhtmltopdf. Other options override them. */
export function withDefaultHeader(options: Html2pdfOptions): Html2pdfOptions {
  if (!options.defaultHeader) return options;
  const { headerLeft = '[webpage]', headerRight = '[page]/[topage]' } = options;
  const { headerLine = true, marginTop = HEADER_MARGIN } = options;
  return { ...options, headerLeft, headerRight, headerLine, marginTop };
}

/** The headers or the footers of a document. */
interface RunningTexts {
  readonly usual: RunningText | undefined;
  readonly first: RunningText | undefined;
  readonly even: RunningText | undefined;
  /** Whether some pages have another one. */
  readonly differ: boolean;
}

/** Returns the headers or the footers that the options ask for. */
export function runningTextsOf(edge: Edge, options: Html2pdfOptions, texts: Texts): RunningTexts {
  const usual = runningTextOf(edge, '', options, texts);
  const first = runningTextOf(edge, 'First', options, texts);
  const even = runningTextOf(edge, 'Even', options, texts);
  const isOnFirst = options[`${edge}First`];
  return {
    usual,
    first: first ?? (isOnFirst ? usual : undefined),
    even: even ?? usual,
    differ: first !== undefined || even !== undefined || (!isOnFirst && usual !== undefined),
  };
}

/** Returns the header or footer of a page. `number` is the one that is printed on it. */
export function runningTextOn(
  { usual, first, even }: RunningTexts,
  { isFirst, number }: { readonly isFirst: boolean; readonly number: number },
): RunningText | undefined {
  if (isFirst) return first;
  return number % 2 === 0 ? even : usual;
}

/** Returns all different headers or footers. */
export function listOf({ usual, first, even }: RunningTexts): RunningText[] {
  return [...new Set([usual, first, even])].filter((each) => each !== undefined);
}

function runningTextOf(
  edge: Edge,
  pages: '' | 'First' | 'Even',
  options: Html2pdfOptions,
  htmlTexts: Texts,
): RunningText | undefined {
  const left = options[`${edge}${pages}Left`] ?? '';
  const center = options[`${edge}${pages}Center`] ?? '';
  const right = options[`${edge}${pages}Right`] ?? '';
  const html = htmlTexts[`${edge}${pages}Html`];
  const line = options[`${edge}Line`] ?? false;
  // A line alone makes a header, but not another one for some pages.
  const hasLine = line && pages === '';
  if (html === undefined && !hasLine && !left && !center && !right) return undefined;
  return {
    html,
    texts: [left, center, right],
    line,
    fontName: options[`${edge}FontName`],
    fontSize: options[`${edge}FontSize`],
    spacing: options[`${edge}Spacing`],
  };
}

/** Minimum height of HTML in a margin, in millimeters, because its own height is unknown. */
const MIN_HTML_HEIGHT = 5;
const POINT = 25.4 / 72;

/** Returns the least margin that has space for the headers or footers, in millimeters. */
export function heightOf(texts: RunningTexts): number {
  const heights = listOf(texts).map(({ html, fontSize, spacing }) =>
    html === undefined ? 1.2 * fontSize * POINT + spacing : MIN_HTML_HEIGHT,
  );
  return Math.max(0, ...heights);
}

/** Whether a text contains section names, which Chromium does not support. */
export function hasSections(running: RunningTexts): boolean {
  return listOf(running).some(({ html, texts }) =>
    html === undefined
      ? texts.some((text) => /\[(sub)?section\]/i.test(text))
      : /\bclass\s*=[^>=]*\b(sub)?section\b/i.test(html),
  );
}

const RESOURCE =
  /<(?:link|image|object)\b|@import|\b(?:src(?:set)?|background)\s*=\s*["']?(?!["']?data:)|url\(\s*["']?(?!["']?data:)/i;

/** Whether HTML contains resources to load, which Chromium does not do in its own headers and footers. */
export function loads({ html }: RunningText): boolean {
  return html !== undefined && RESOURCE.test(html);
}

/** Minimum factor by which texts shrink to fit into one line. */
const MIN_SCALE = 0.5;
/** Minimum distance in millimeters between two texts in one line. */
const GAP = 2;

/** Measures the widths of texts in CSS pixels. */
const MEASURE = `(font, json) => {
  const context = new OffscreenCanvas(1, 1).getContext('2d');
  context.font = font;
  return JSON.stringify(JSON.parse(json).map((text) => context.measureText(text).width));
}`;

/** The longest text of each class whose text differs from page to page. */
type Longest = Readonly<Record<string, string>>;

/** Makes the URLs of a template's resources absolute, because headers and footers share one document. */
const RESOLVE = `(html) => {
  const page = new DOMParser().parseFromString(html, 'text/html');
  const absolute = (url) => (url && URL.canParse(url, page.baseURI) ? new URL(url, page.baseURI).href : url);
  const resolve = (css) => css
    .replace(/@import\\s+(["'])(.*?)\\1/gi, '@import url($1$2$1)')
    .replace(/url\\(\\s*(["']?)((?:(?!url\\().)*?)\\1\\s*\\)/gi, (_, quote, url) => 'url(' + quote + absolute(url) + quote + ')');
  for (const name of ['src', 'href', 'data', 'background']) {
    for (const element of page.querySelectorAll('[' + name + ']:not([' + name + '^="#"])'))
      element.setAttribute(name, absolute(element.getAttribute(name)));
  }
  for (const element of page.querySelectorAll('[srcset]'))
    element.srcset = element.srcset.replace(/(^|,\\s|[\\d.][wx],)\\s*(\\S+)/g, (_, before, url) => before + absolute(url));
  for (const element of page.querySelectorAll('[style]')) element.setAttribute('style', resolve(element.getAttribute('style')));
  for (const style of page.querySelectorAll('style')) style.textContent = resolve(style.textContent);
  for (const base of page.querySelectorAll('base, script, meta, title')) base.remove();
  return page.head.innerHTML + page.body.innerHTML;
}`;

/**
 * Prepares texts for printing: shrinks those that are too long for one line of `width` millimeters, marks those that
 * do not fit even then, and makes the URLs of resources absolute.
 */
export async function prepareTexts(
  session: Session,
  running: RunningTexts,
  { values, longest, width }: { values: TemplateValues; longest: Longest; width: number },
): Promise<RunningTexts> {
  const fit = async (text: RunningText): Promise<RunningText> => {
    const { html, fontName, fontSize, texts } = text;
    if (html !== undefined)
      return loads(text) ? { ...text, html: String(await evaluate(session, RESOLVE, html)) } : text;
    const samples = texts.map((each) => textOf(fill(each, values), longest));
    const font = `${fontSize}pt ${JSON.stringify(fontName)}`;
    const measured: unknown = JSON.parse(
      String(await evaluate(session, MEASURE, font, JSON.stringify(samples))),
    );
    const [left, center, right] = samples.map((_, index) => {
      const pixels = boundedInteger((measured as unknown[])[index], { min: 0, max: 1e6 });
      return pixels === 0 ? 0 : pixels * PIXEL + GAP;
    }) as [number, number, number];
    const needed = center ? center + 2 * Math.max(left, right) : left + right;
    const scale = (width + GAP) / needed;
    if (scale >= 1) return text;
    return { ...text, fontSize: fontSize * Math.max(scale, MIN_SCALE), isCut: scale < MIN_SCALE };
  };
  const distinct = listOf(running);
  const fitted = await Promise.all(distinct.map(fit));
  const of = (text: RunningText | undefined) => text && fitted[distinct.indexOf(text)];
  return { ...running, usual: of(running.usual), first: of(running.first), even: of(running.even) };
}

/** Returns the longest text of each class. A document rarely has more than 999 pages. */
export function longestOf({
  title,
  url,
  bookmarks,
}: {
  readonly title: string;
  readonly url: string;
  readonly bookmarks: readonly Bookmark[];
}): Longest {
  const longest = (level: number) =>
    bookmarks
      .filter((bookmark) => bookmark.level === level)
      .reduce((best, bookmark) => (bookmark.title.length > best.length ? bookmark.title : best), '');
  const count = '000';
  return { pageNumber: count, totalPages: count, title, url, section: longest(1), subsection: longest(2) };
}

/** Returns the text of a filled template, with the longest text of each class. */
function textOf(html: string, longest: Longest): string {
  return html
    .replace(/<span class="(\w+)"><\/span>/g, (_, name: string) => longest[name] ?? '')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
}

/** Position of templates: the size of the paper and its margins in millimeters. */
interface Place {
  readonly height: number;
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

/** Returns the template that Chromium prints into a margin. Empty if there is nothing to print. */
export function template(
  running: RunningText | undefined,
  edge: Edge,
  { values, place }: { values: TemplateValues; place: Place },
): string {
  if (!running) return '<span></span>';
  if (running.html !== undefined) return htmlTemplate(running.html, edge, place);
  const { texts, line, fontName, fontSize, spacing, isCut } = running;
  const { height, top, bottom, left, right } = place;
  const inner = edge === 'header' ? 'bottom' : 'top';
  const distance = height - (edge === 'header' ? top : bottom) + spacing;
  const cells = texts.map((text, index) => {
    const align = ['left', 'center', 'right'][index];
    // As in wkhtmltopdf, each text is one line as wide as the content. Texts that are cut share the width.
    const place = isCut ? 'flex:0 1 auto;overflow:hidden;text-overflow:ellipsis' : 'grid-area:1/1';
    return `<div style="${place};text-align:${align};white-space:pre">${fill(text, values)}</div>`;
  });
  const style = [
    // By default, Chromium places both at the paper's edges, but they belong next to the content.
    `position:absolute;${inner}:${distance}mm;left:${left}mm;right:${right}mm`,
    `display:${isCut ? `flex;gap:${GAP}mm;justify-content:space-between` : 'grid'};height:1lh;line-height:normal;font-family:${escapeHtml(JSON.stringify(fontName))};font-size:${fontSize}pt`,
    `padding-${inner}:0.5mm`,
    line ? `border-${inner}:0.3mm solid black` : '',
  ];
  return `<div style="${style.join(';')}">${cells.join('')}</div>`;
}

/** Classes that scripts in wkhtmltopdf headers fill in, and the ones that Chromium fills in itself. */
const CLASSES: Readonly<Record<string, string>> = {
  page: 'pageNumber',
  topage: 'totalPages',
  sitepage: 'pageNumber',
  sitepages: 'totalPages',
  webpage: 'url',
  doctitle: 'title',
};

/** Places the caller's HTML between the margins. Its scripts do not run. */
function htmlTemplate(html: string, edge: Edge, place: Place): string {
  const classes = html.replace(/\bclass\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/gi, (_all, ...values) => {
    const names = values.slice(0, 3).find((value) => value !== undefined) as string;
    const added = names.split(/\s+/).flatMap((name) => CLASSES[name] ?? []);
    return `class="${[names, ...added].join(' ').replaceAll('"', '')}"`;
  });
  const { left, right } = place;
  const outer = edge === 'header' ? 'top' : 'bottom';
  const style = [
    `position:absolute;${outer}:0;left:${left}mm;right:${right}mm;height:${edge === 'header' ? place.top : place.bottom}mm`,
    'margin:0;padding:0;border:0;display:block;font-size:12pt;overflow:hidden;-webkit-print-color-adjust:exact',
  ];
  return `<div style="${style.join(';')}">${classes}</div>`;
}

/** Fills in wkhtmltopdf's placeholders. Those that differ from page to page are left to Chromium. */
function fill(
  text: string,
  { url, now, locale, timezone, replacements, pageOffset = 0 }: TemplateValues,
): string {
  const timeZone = timezone;
  const values: Readonly<Record<string, string>> = {
    page: '<span class="pageNumber"></span>',
    frompage: String(1 + pageOffset),
    topage: '<span class="totalPages"></span>',
    sitepage: '<span class="pageNumber"></span>',
    sitepages: '<span class="totalPages"></span>',
    title: '<span class="title"></span>',
    doctitle: '<span class="title"></span>',
    section: '<span class="section"></span>',
    subsection: '<span class="subsection"></span>',
    webpage: escapeHtml(url),
    date: escapeHtml(now.toLocaleDateString(locale, { timeZone })),
    // The Swedish locale formats dates and times as in ISO 8601.
    isodate: now.toLocaleDateString('sv', { timeZone }),
    time: now.toLocaleTimeString('sv', { timeZone }),
    ...Object.fromEntries(replacements.map(({ name, value }) => [name.toLowerCase(), escapeHtml(value)])),
  };
  // Case-insensitive as in wkhtmltopdf, because users write both `[toPage]` and `[topage]`.
  return escapeHtml(text).replace(/\[([\w-]+)\]/g, (all, name: string) =>
    Object.hasOwn(values, name.toLowerCase()) ? values[name.toLowerCase()]! : all,
  );
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The text of each class of a header or footer on one page. */
type Values = Readonly<
  Record<'pageNumber' | 'totalPages' | 'title' | 'url' | 'date' | 'section' | 'subsection', string>
>;

/**
 * Returns the names of a page's section and subsection: the first that starts on the page, or else the one that
 * continues on it.
 */
export function sectionsOf(
  bookmarks: readonly Bookmark[],
  page: number,
): { section: string; subsection: string } {
  const chapters = bookmarks.filter(({ level }) => level === 1);
  const chapter = current(chapters, page);
  if (!chapter) return { section: '', subsection: '' };
  const begin = bookmarks.indexOf(chapter);
  const end = bookmarks.findIndex(({ level }, index) => index > begin && level === 1);
  const within = bookmarks.slice(begin + 1, end < 0 ? undefined : end).filter(({ level }) => level === 2);
  return { section: chapter.title, subsection: current(within, page)?.title ?? '' };
}

function current(bookmarks: readonly Bookmark[], page: number): Bookmark | undefined {
  return (
    bookmarks.find((bookmark) => bookmark.page === page) ??
    bookmarks.findLast((bookmark) => bookmark.page < page)
  );
}

const FILL = `(json) => {
  const pages = JSON.parse(json);
  [...document.body.children].forEach((page, index) => {
    for (const [name, value] of Object.entries(pages[index])) {
      for (const element of page.getElementsByClassName(name)) element.textContent = value;
    }
  });
}`;

/** Keeps styles of a header from moving the pages, or covering them. */
const SHEETS = `html, body {
  margin: 0 !important; padding: 0 !important; border: 0 !important; background: none !important;
  width: auto !important; height: auto !important; position: static !important; display: block !important;
  overflow: visible !important; transform: none !important; zoom: 1 !important;
}
body > * { margin: 0 !important; padding: 0 !important; border: 0 !important; display: block !important }
body > * + * { break-before: page }
@page { margin: 0 !important }`;

/** Waits until all resources are loaded, and returns whether one of them is missing. */
const LOAD = `async () => {
  const settled = (target) => new Promise((done) => {
    for (const event of ['load', 'error']) target.addEventListener(event, done);
  });
  await Promise.all([...document.images].map((image) => image.complete || settled(image)));
  if (document.readyState !== 'complete') await settled(window);
  return [...document.images].some((image) => image.naturalWidth === 0) ||
    [...document.querySelectorAll('link[rel~=stylesheet]')].some((link) => !link.sheet);
}`;
/** Maximum milliseconds to wait for the resources of headers and footers. */
const LOAD_TIMEOUT = 10_000;
/** Maximum characters of the headers and footers of all pages, which the browser gets in one message. */
const MAX_HTML = 100_000_000;

/**
 * Replaces the page with one that contains only its headers and footers. No script runs in it. If they have resources, a
 * proxy loads them. Returns whether one of them could not be loaded.
 */
export async function showRunningTexts(
  session: Session,
  pages: ReadonlyArray<{ readonly template: string; readonly values: Values }>,
  {
    width,
    height,
    proxyPort,
  }: { readonly width: number; readonly height: number; readonly proxyPort: number | undefined },
): Promise<boolean> {
  const { protocol, frameId, relay } = session;
  const total = pages.reduce((sum, { template }) => sum + template.length, 0);
  if (total > MAX_HTML)
    throw new ConversionError('SOURCE_TOO_LARGE', 'The headers and footers of all pages are too long.');
  if (proxyPort === undefined) relay.close();
  await protocol.send('Emulation.setScriptExecutionDisabled', { value: true });
  await protocol.send('Page.navigate', { url: 'about:blank' });
  if (proxyPort !== undefined) relay.lead(proxyPort);
  const box = `position:relative;width:${width}mm;height:${height}mm;overflow:hidden;break-inside:avoid`;
  const sheets = pages.map(({ template }) => `<div style="${box}">${template}</div>`);
  await protocol.send('Page.setDocumentContent', {
    frameId,
    html: `<!doctype html><body>${sheets.join('')}`,
  });
  await addStyleSheet(session, SHEETS);
  await evaluate(session, FILL, JSON.stringify(pages.map(({ values }) => values)));
  if (proxyPort === undefined) return false;
  const missing = await within(LOAD_TIMEOUT, unblock(session, evaluate(session, LOAD)));
  relay.close();
  return missing !== false;
}
