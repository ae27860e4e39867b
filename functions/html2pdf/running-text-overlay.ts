import { evaluate } from '../engines/chromium/page/evaluate.ts';
import type { Session } from '../engines/chromium/page/session.ts';
import type { Bookmark } from './written-pdf.ts';

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

/** Replaces the page with one that contains only its headers and footers. Nothing in it runs or loads. */
export async function showRunningTexts(
  session: Session,
  pages: ReadonlyArray<{ readonly template: string; readonly values: Values }>,
  { width, height }: { readonly width: number; readonly height: number },
): Promise<void> {
  const { protocol, frameId, relay } = session;
  relay.close();
  await protocol.send('Emulation.setScriptExecutionDisabled', { value: true });
  await protocol.send('Page.navigate', { url: 'about:blank' });
  const box = `position:relative;width:${width}mm;height:${height}mm;overflow:hidden;break-inside:avoid`;
  const sheets = pages.map(({ template }) => `<div style="${box}">${template}</div>`);
  const style = '<style>body { margin: 0 } body > * + * { break-before: page }</style>';
  const html = `<!doctype html>${style}<body>${sheets.join('')}`;
  await protocol.send('Page.setDocumentContent', { frameId, html });
  await evaluate(session, FILL, JSON.stringify(pages.map(({ values }) => values)));
}
