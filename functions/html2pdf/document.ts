import { addStyleSheet, ELEMENTS_IN, evaluate } from '../engines/chromium/page/evaluate.ts';
import { type Session, setViewport, type Viewport } from '../engines/chromium/page/session.ts';
import type { Html2pdfOptions } from './options.ts';
import { type Layout, PIXEL } from './paper.ts';

const SET_TITLE = '(title) => { document.title = title; }';

/**
 * Invalidates the URLs of links with an invisible character, a left-to-right mark. Such links are left out of the PDF
 * but look the same. Removing the URLs could change the look, because styles depend on them, and some show them.
 */
const REMOVE_LINKS = `(external, internal) => {${ELEMENTS_IN}
  const base = (url) => url.href.slice(0, url.href.length - url.hash.length);
  for (const link of elementsIn(document)) {
    if (!link.matches('a[href], area[href]') || !URL.canParse(link.href)) continue;
    const url = new URL(link.href);
    if (base(url) === base(location)) {
      if (internal) link.setAttribute('href', link.getAttribute('href') + '\\u200e');
    } else if (external) {
      link.setAttribute('href', url.href.replace(/^([a-z]+:\\/\\/[^/?#]*|[a-z-]+:)/, '$1\\u200e'));
    }
  }
}`;

/** Hides deeper headings from the structure that bookmarks are made from. */
const LIMIT_OUTLINE = `(depth) => {${ELEMENTS_IN}
  for (const heading of elementsIn(document)) {
    if (heading.matches('h1, h2, h3, h4, h5, h6') && Number(heading.localName[1]) > depth) heading.setAttribute('role', 'none');
  }
}`;

const HEADINGS = `() => {${ELEMENTS_IN}
  const isHeading = (element) => element.matches(':is(h1, h2, h3, h4, h5, h6):not([role=none]), [role=heading]') && element.getClientRects().length > 0;
  return JSON.stringify([...elementsIn(document)].filter(isHeading).map((heading) => heading.innerText));
}`;

/** Returns the texts of the headings. */
export async function readHeadings(session: Session): Promise<readonly string[]> {
  const headings: unknown = JSON.parse(String(await evaluate(session, HEADINGS)));
  return (headings as unknown[]).map((text) =>
    String(text).replaceAll('\u00ad', '').trim().replace(/\s+/g, ' '),
  );
}

/** Applies the options that change the content of a page before it is printed. */
export async function applyDocumentOptions(session: Session, options: Html2pdfOptions): Promise<void> {
  const { title, externalLinks, internalLinks, outlineDepth } = options;
  if (title !== undefined) await evaluate(session, SET_TITLE, title);
  if (!externalLinks || !internalLinks) await evaluate(session, REMOVE_LINKS, !externalLinks, !internalLinks);
  if (outlineDepth !== undefined) await evaluate(session, LIMIT_OUTLINE, outlineDepth);
}

/** Whether an element with text has a filter, which Chromium prints as a picture. */
const HAS_FILTERED_TEXT = `() => {${ELEMENTS_IN}
  for (const element of elementsIn(document)) {
    if (getComputedStyle(element).filter !== 'none' && element.textContent.trim() !== '') return true;
  }
  return false;
}`;

/**
 * Leaves only the text in elements with a filter, almost invisible. A completely transparent text would not be printed. The layout
 * stays, because `will-change` makes an element contain others as a filter does.
 */
const SHOW_TEXT = `() => {${ELEMENTS_IN}
  const elements = [...elementsIn(document)];
  const isFiltered = (element) => {
    for (let node = element; node; node = parentOf(node)) if (filters.has(node)) return true;
    return false;
  };
  const filters = new Set(elements.filter((element) => getComputedStyle(element).filter !== 'none'));
  const texts = elements.filter((element) =>
    [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== '') &&
    getComputedStyle(element).visibility === 'visible' && isFiltered(element));
  const set = (element, styles) => {
    for (const [name, value] of Object.entries(styles)) element.style?.setProperty(name, value, 'important');
  };
  for (const element of filters) set(element, { filter: 'none', 'will-change': 'filter' });
  const color = 'rgba(0, 0, 0, 0.002)';
  for (const element of texts) {
    set(element, {
      visibility: 'visible', transition: 'none', color, fill: color, background: 'none', 'border-color': 'transparent',
      '-webkit-text-fill-color': color, '-webkit-text-stroke-color': 'transparent', stroke: 'none',
      'text-shadow': 'none', 'box-shadow': 'none', outline: 'none', 'text-decoration-color': 'transparent',
      'list-style-type': 'none',
    });
  }
}`;

/** Hides everything that the element's own style does not show. */
const HIDDEN = '*, ::before, ::after { visibility: hidden !important; transition: none !important }';

/** Whether the page has text that Chromium prints as a picture. */
export async function hasFilteredText(session: Session): Promise<boolean> {
  return (await evaluate(session, HAS_FILTERED_TEXT)) === true;
}

/** Leaves only that text on the page, invisible, to be printed over the pictures. */
export async function showFilteredText(session: Session): Promise<void> {
  await evaluate(session, SHOW_TEXT);
  await addStyleSheet(session, HIDDEN);
}

/** CSS pixels by which the window grows to find lengths that depend on its height. */
const PROBE = 100;

/** Remembers the boxes and styles of all elements in `dependent`. */
const REMEMBER = `() => {${ELEMENTS_IN}
  const boxOf = (element) => {
    const { top, height } = element.getBoundingClientRect();
    return [height, top - (parentOf(element)?.getBoundingClientRect().top ?? 0)].join();
  };
  const stylesOf = (element) => new Map([...element.computedStyleMap()].map(([name, values]) => [name, values.join()]));
  const elements = [...elementsIn(document)];
  const boxes = elements.map((element) => [element, boxOf(element)]);
  const vertical = [...getComputedStyle(document.documentElement)].filter((name) => /height|size|top|bottom|trans/.test(name));
  const generatedStyles = (element, pseudo) => {
    const style = getComputedStyle(element, pseudo);
    return vertical.map((name) => [name, style.getPropertyValue(name)]);
  };
  const generated = elements.flatMap((element) => ['::before', '::after']
    .filter((pseudo) => !/^(none|normal)$/.test(getComputedStyle(element, pseudo).content))
    .map((pseudo) => ({ element, pseudo, styles: generatedStyles(element, pseudo) })));
  globalThis.dependent = { boxes, boxOf, stylesOf, generated, generatedStyles, found: [] };
}`;

/** Adds the elements to `dependent.found` whose boxes have changed with the window. */
const FIND_CHANGED = `() => {
  const { boxes, boxOf, stylesOf, generated, generatedStyles, found } = dependent;
  for (const [element, box] of boxes) if (boxOf(element) !== box) found.push([element, stylesOf(element)]);
  for (const each of generated) {
    const others = new Map(generatedStyles(each.element, each.pseudo));
    each.changed = each.styles.filter(([name, value]) => others.get(name) !== value);
  }
}`;

/** Returns rules for generated content, which has no `style` attribute. */
const PIN = `() => {
  const { stylesOf, found, generated } = dependent;
  const changes = found.flatMap(([element, other]) =>
    [...stylesOf(element)].filter(([name, value]) => other.get(name) !== value).map((style) => [element, ...style]));
  for (const [element, name, value] of changes) element.style.setProperty(name, value, 'important');
  const rules = generated.filter(({ changed }) => changed.length > 0).map(({ element, pseudo, changed }, index) => {
    const name = 'data-pinned-' + pseudo.slice(2);
    element.setAttribute(name, index);
    const declarations = changed.map(([property, value]) => property + ':' + value + '!important');
    return '[' + name + '="' + index + '"]' + pseudo + '{' + declarations.join(';') + '}';
  });
  return rules.join('');
}`;

/**
 * Fixes lengths that depend on the height of the window, such as `100vh`. On paper as tall as the content they would
 * grow with it.
 */
export async function pinToWindow(session: Session, window: Viewport): Promise<void> {
  await evaluate(session, REMEMBER);
  await setViewport(session, { ...window, height: window.height + PROBE });
  await evaluate(session, FIND_CHANGED);
  await setViewport(session, window);
  await addStyleSheet(session, String(await evaluate(session, PIN)));
}

/** Finds elements as large as the printed area, removes what is around them, and returns whether there are any. */
const SEPARATE_SHEETS = `(width, height) => {${ELEMENTS_IN}
  const { body, documentElement: root } = document;
  if (!body) return false;
  const isSheet = (element) => {
    const box = element.getBoundingClientRect();
    return Math.abs(box.width - width) < 1.5 && Math.abs(box.height - height) < 1.5;
  };
  const sheets = [...elementsIn(body)].filter((element) => element.style && isSheet(element));
  const outer = sheets.filter((element) => !sheets.some((other) => other !== element && other.contains(element)));
  if (outer.length === 0) return false;
  for (const element of [root, body]) {
    for (const name of ['margin', 'padding', 'border-width']) element.style.setProperty(name, '0', 'important');
  }
  for (const [index, sheet] of outer.entries()) {
    if (index > 0) sheet.style.setProperty('break-before', 'page', 'important');
    sheet.style.setProperty('break-inside', 'avoid', 'important');
  }
  return true;
}`;

/**
 * Prepares a page that consists of sheets of the size that its `@page` rule names, as Paged.js makes them: each sheet gets a page, and
 * the styles for print apply, which the sheets were made for.
 */
export async function printSheets(
  session: Session,
  layout: Layout,
  media: readonly MediaFeature[],
): Promise<void> {
  const { width, height, left, right, top, bottom } = layout;
  if (height === 'auto') return;
  const area = [(width - left - right) / PIXEL, (height - top - bottom) / PIXEL];
  if ((await evaluate(session, SEPARATE_SHEETS, ...area)) !== true) return;
  await session.protocol.send('Emulation.setEmulatedMedia', { media: 'print', features: [...media] });
}

interface MediaFeature {
  readonly name: string;
  readonly value: string;
}

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
