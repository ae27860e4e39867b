import { type Edit, emptyElement, readMarkup } from './markup.ts';

/** Elements whose text is not on the pages of the body, or not in print. */
const OUTSIDE = ['w:txbxContent', 'mc:Fallback', 'w:del', 'w:moveFrom'];
const MARK = 'w:lastRenderedPageBreak';
/** Starts the names of the bookmarks. A number from 1 follows. */
export const BOOKMARK = 'docmill-page-';
/** Added to the numbers for the IDs of the bookmarks, because those of the document must differ. */
const FIRST_ID = 2_000_000_000;

/**
 * Puts bookmarks where pages began when Word saved the document, because LibreOffice ignores Word's marks. Omits marks right after
 * a page break, where a page begins anyway.
 * @throws Error if the text is not well-formed.
 */
export function pageMarkEdits(part: string): Edit[] {
  const edits: Edit[] = [];
  if (!part.includes(`<${MARK}`)) return edits;
  let isAfterBreak = false;
  /** Properties of the current run, which the bookmark divides. */
  let properties = '';
  let propertiesStart = 0;
  readMarkup(part, {
    open({ name, attributes, start, end }, path) {
      const isInRun = path.at(-1) === 'w:r';
      if (name === 'w:br' && attributes['w:type'] === 'page') isAfterBreak = true;
      if (['w:p', 'w:t', 'w:drawing'].includes(name)) isAfterBreak = false;
      if (name === 'w:r') properties = '';
      if (name === 'w:rPr' && isInRun) propertiesStart = start;
      if (name !== MARK || !isInRun || isAfterBreak || path.some((each) => OUTSIDE.includes(each))) return;
      const number = edits.length + 1;
      const id = String(FIRST_ID + number);
      const bookmark =
        emptyElement('w:bookmarkStart', { 'w:id': id, 'w:name': `${BOOKMARK}${number}` }) +
        emptyElement('w:bookmarkEnd', { 'w:id': id });
      edits.push({ start, end, text: `</w:r>${bookmark}<w:r>${properties}` });
    },
    close(name, path, end) {
      if (name === 'w:rPr' && path.at(-1) === 'w:r') properties = part.slice(propertiesStart, end);
    },
  });
  return edits;
}

/**
 * Reads how many pages Word recorded in the properties of a document that has marks where pages begin, or none. Returns `undefined`
 * if it recorded none. After some kinds of saving, it recorded one page whatever there was.
 */
export function readPageCount(properties: string, marks: number): number | undefined {
  let count = 0;
  let isWord = false;
  readMarkup(properties, {
    open() {},
    text(text, path) {
      if (path.at(-1) === 'Pages') count = Number(text);
      if (path.at(-1) === 'Application') isWord = /^Microsoft .*Word/.test(text);
    },
  });
  return isWord && Number.isSafeInteger(count) && count > Math.min(marks, 1) ? count : undefined;
}
