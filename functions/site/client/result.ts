import { type ConversionResult, type Output, TEXT } from './service.ts';

/** Maximum number of characters of a text to show. */
const MAX_TEXT = 100_000;
const SHOWN = /^image\/(jpeg|png|webp|avif|gif)$/;

/** Returns the result as elements: images and pages as a strip, text as text, and a link for each file. */
export async function showResult(ended: ConversionResult, signal: AbortSignal): Promise<Node[]> {
  const { outputs, pageCount, ignored = [], warnings = [], isDemo, requestId } = ended;
  const notes = [
    ...(isDemo ? [TEXT.preview] : []),
    ...(pageCount === undefined ? [] : [TEXT.pageCount(pageCount)]),
    ...warnings,
    ...(ignored.length > 0 ? [`${TEXT.ignored} ${ignored.join(', ')}`] : []),
  ];
  return [
    // Without a preview, the result can still be downloaded.
    await preview(outputs, signal).catch(() => noPreview()),
    ...outputs.map(download),
    ...notes.map((note) => create('p', { className: 'muted', textContent: note })),
    ...requestLine(requestId),
  ];
}

/** Returns the line with the ID of a request. */
export function requestLine(requestId: string | undefined): Node[] {
  if (requestId === undefined) return [];
  const id = create('code', { textContent: requestId });
  return [create('p', { className: 'muted' }, `${TEXT.requestId} `, id)];
}

/** Formats the seconds since a point in time as the language of the page does. */
export function secondsSince(started: number): string {
  const format = { minimumFractionDigits: 1, maximumFractionDigits: 1 };
  return ((performance.now() - started) / 1000).toLocaleString(document.documentElement.lang, format);
}

/** Formats a size in bytes as the language of the page does. */
export function sizeOf(bytes: number): string {
  const [unit, size] =
    bytes < 1000
      ? (['byte', 1] as const)
      : bytes < 1e6
        ? (['kilobyte', 1e3] as const)
        : (['megabyte', 1e6] as const);
  const format = { style: 'unit', unit, unitDisplay: 'short', maximumSignificantDigits: 3 } as const;
  return new Intl.NumberFormat(document.documentElement.lang, format).format(bytes / size);
}

async function preview(outputs: readonly Output[], signal: AbortSignal): Promise<Node> {
  const [first] = outputs;
  if (!first) return noPreview();
  if (SHOWN.test(first.contentType)) return strip(outputs);
  if (/^text\/(plain|csv)/.test(first.contentType)) return text(first, signal);
  if (first.contentType === 'application/pdf') return pdf(first);
  return noPreview();
}

function noPreview(): Node {
  return create('p', { className: 'empty', textContent: TEXT.noPreview });
}

function strip(outputs: readonly Output[]): HTMLElement {
  const images = outputs.map(({ url, name, page }) => {
    const alt = page === undefined ? name : TEXT.page(page);
    const image = create('img', { src: url, alt, loading: 'lazy' });
    return outputs.length === 1 ? image : create('figure', {}, image, create('figcaption', {}, alt));
  });
  const strip = create(
    'div',
    { className: images.length === 1 ? 'picture' : 'strip', tabIndex: 0 },
    ...images,
  );
  strip.setAttribute('role', 'group');
  strip.setAttribute('aria-label', TEXT.results(outputs[0]!.name));
  return strip;
}

async function text({ url }: Output, signal: AbortSignal): Promise<HTMLElement> {
  const all = await (await fetch(url, { signal })).text();
  const shown = create('pre', { tabIndex: 0 }, all.slice(0, MAX_TEXT));
  if (all.length <= MAX_TEXT) return shown;
  return create('div', {}, shown, create('p', { className: 'muted', textContent: TEXT.truncated }));
}

/** Shows a PDF with the browser's own viewer, which costs the caller nothing. */
function pdf({ url, name }: Output): Node {
  return navigator.pdfViewerEnabled ? create('iframe', { src: url, title: name }) : noPreview();
}

function download({ url, name, bytes }: Output): HTMLElement {
  const size = bytes === undefined ? '' : ` (${sizeOf(bytes)})`;
  const isHttp = /^https?:$/.test(new URL(url, location.href).protocol);
  const link = create('a', { ...(isHttp && { href: url }), download: name, rel: 'noreferrer' });
  link.append(`${TEXT.download} ${name}`);
  return create('p', { className: 'download' }, link, size);
}

/** Returns the element with an ID. The page must contain it. */
export function byId<Type extends HTMLElement = HTMLElement>(id: string): Type {
  return document.getElementById(id) as Type;
}

/** Creates an element with properties and children. Text is never parsed as HTML. */
export function create<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]> = {},
  ...children: ReadonlyArray<Node | string>
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  Object.assign(element, properties);
  element.append(...children);
  return element;
}
