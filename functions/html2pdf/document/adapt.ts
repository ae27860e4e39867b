import { ELEMENTS_IN } from '../../engines/chromium/page/content/elements.ts';
import { evaluate } from '../../engines/chromium/page/evaluate.ts';
import type { Session } from '../../engines/chromium/page/session.ts';
import type { Html2pdfOptions } from '../options.ts';

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

/** Applies the options that change the content of a page before it is printed. */
export async function adaptDocument(session: Session, options: Html2pdfOptions): Promise<void> {
  const { title, externalLinks, internalLinks, outlineDepth } = options;
  if (title !== undefined) await evaluate(session, SET_TITLE, title);
  if (!externalLinks || !internalLinks) await evaluate(session, REMOVE_LINKS, !externalLinks, !internalLinks);
  if (outlineDepth !== undefined) await evaluate(session, LIMIT_OUTLINE, outlineDepth);
}
