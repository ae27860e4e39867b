import { evaluate } from '../../engines/chromium/page/evaluate.ts';
import type { Session } from '../../engines/chromium/page/session.ts';
import type { Html2pdfOptions } from '../options.ts';

const STYLE = `
  :host {
    all: initial !important; display: block !important;
    border-image: conic-gradient(white 0 0) fill 0 // 0 100vw !important;
  }
  * { font-family: Arial, sans-serif; color: black; line-height: 1.5; }
  h1 { font-size: 20pt; margin: 0 0 8mm; text-align: center; }
  a { display: flex; align-items: baseline; text-decoration: none; font-size: 11pt; break-inside: avoid; }
  i { flex: 1; overflow: hidden; min-width: 5mm; margin: 0 1mm; border-bottom: 0.5pt dotted transparent; }
  .dots i { border-color: black; }
  b { font-weight: normal; text-align: right; min-width: 8mm; }`;

/** Puts the contents on separate pages without the page's background. */
const OWN_PAGES = `
  :host { break-after: page !important; }
  nav { min-height: calc(100vh - 1px); }`;

/**
 * Inserts a table of contents before the body, where the page's own styles do not affect it, with space for page
 * numbers.
 */
const INSERT = `(heading, depth, hasDots, style) => {
  const host = document.createElement('docmill-contents');
  const root = host.attachShadow({ mode: 'closed' });
  const add = (parent, name, text) => {
    const element = document.createElement(name);
    element.textContent = text;
    parent.append(element);
    return element;
  };
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  root.adoptedStyleSheets = [sheet];
  const list = add(root, 'nav', '');
  add(list, 'h1', heading);
  if (hasDots) list.className = 'dots';
  // Chromium treats links within the page as external if there is a base URL.
  for (const base of document.querySelectorAll('base[href]')) {
    for (const link of document.querySelectorAll('a[href], area[href]')) link.href = link.href;
    base.removeAttribute('href');
  }
  let count = 0;
  for (const element of document.body?.querySelectorAll('h1, h2, h3, h4, h5, h6') ?? []) {
    const level = Number(element.localName[1]);
    const text = element.innerText.trim().replace(/\\s+/g, ' ');
    if (level > depth || text === '' || element.getClientRects().length === 0) continue;
    count += 1;
    if (!element.id || document.getElementById(element.id) !== element) element.id = 'docmill-heading-' + count;
    const link = add(list, 'a', '');
    link.href = '#' + encodeURIComponent(element.id);
    // Chromium writes only the targets of links outside of shadow trees.
    add(host, 'a', '').href = link.href;
    link.dataset.id = element.id;
    link.style.paddingLeft = 6 * (level - 1) + 'mm';
    add(link, 'span', text);
    add(link, 'i', '');
    add(link, 'b', '');
  }
  document.documentElement.insertBefore(host, document.body);
  globalThis.docmillContents = list;
}`;

const NUMBER = `(numbers, isLinked) => {
  const pages = JSON.parse(numbers);
  for (const link of globalThis.docmillContents?.querySelectorAll('a') ?? []) {
    link.querySelector('b').textContent = pages[link.dataset.id] ?? pages[encodeURIComponent(link.dataset.id)] ?? '';
    if (!isLinked) link.removeAttribute('href');
  }
}`;

/** Inserts a table of contents without page numbers, which are only known after the page has been printed once. */
export async function insertContents(
  session: Session,
  { tocHeading, tocDots, outlineDepth = 6, pageHeight }: Html2pdfOptions,
): Promise<void> {
  // With `--page-height=auto`, the single page is as tall as all content.
  const style = pageHeight === 'auto' ? STYLE : STYLE + OWN_PAGES;
  await evaluate(session, INSERT, tocHeading, outlineDepth, tocDots, style);
}

/** Fills in the page numbers, by the `id` of the heading. */
export async function numberContents(
  session: Session,
  destinations: ReadonlyMap<string, number>,
  { tocLinks, pageOffset }: Html2pdfOptions,
): Promise<void> {
  const numbers = Object.fromEntries([...destinations].map(([id, page]) => [id, String(page + pageOffset)]));
  await evaluate(session, NUMBER, JSON.stringify(numbers), tocLinks);
}
