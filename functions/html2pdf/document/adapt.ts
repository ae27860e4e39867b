import { evaluate } from '../../engines/chromium/page/evaluate.ts';
import type { Session } from '../../engines/chromium/page/session.ts';
import type { Html2pdfOptions } from '../options.ts';

const SET_TITLE = '(title) => { document.title = title; }';

/** Turns links into plain elements that look the same. */
const REMOVE_LINKS = `(external, internal) => {
  const base = (url) => url.href.slice(0, url.href.length - url.hash.length);
  for (const link of document.querySelectorAll('a[href], area[href]')) {
    const isInternal = URL.canParse(link.href) && base(new URL(link.href)) === base(location);
    if (!(isInternal ? internal : external)) continue;
    const { color, textDecoration, cursor } = getComputedStyle(link);
    Object.assign(link.style, { color, textDecoration, cursor });
    link.removeAttribute('href');
  }
}`;

/** Hides deeper headings from the structure from which bookmarks are made. */
const LIMIT_OUTLINE = `(depth) => {
  for (const heading of document.querySelectorAll('h1, h2, h3, h4, h5, h6')) {
    if (Number(heading.localName[1]) > depth) heading.setAttribute('role', 'none');
  }
}`;

/** Applies the options that change the content of a page before it is printed. */
export async function adaptDocument(session: Session, options: Html2pdfOptions): Promise<void> {
  const { title, externalLinks, internalLinks, outlineDepth } = options;
  if (title !== undefined) await evaluate(session, SET_TITLE, title);
  if (!externalLinks || !internalLinks) await evaluate(session, REMOVE_LINKS, !externalLinks, !internalLinks);
  if (outlineDepth !== undefined) await evaluate(session, LIMIT_OUTLINE, outlineDepth);
}
