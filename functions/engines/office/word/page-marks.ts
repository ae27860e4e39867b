import { type Edit, emptyElement, readMarkup } from '../markup.ts';

/** Elements that may be around a mark. Others contain text that is not in the body, or may not contain bookmarks. */
const AROUND = new Set(
  [
    'document',
    'body',
    'p',
    'r',
    'tbl',
    'tr',
    'tc',
    'sdt',
    'sdtContent',
    'hyperlink',
    'smartTag',
    'ins',
    'moveTo',
  ].map((name) => `w:${name}`),
);
const MARK = 'w:lastRenderedPageBreak';
/** Starts the names of the bookmarks. A number from 1 follows. */
export const BOOKMARK = 'docmill-page-';
/** A row of a table on a new page has a mark in each cell. */
const MAX_MARKS_PER_PAGE = 10;
/** Maximum number of marks in a document whose number of pages is unknown. */
const MAX_MARKS = 1000;
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
  /** Properties of the runs around, which a bookmark divides. */
  const properties: string[] = [];
  let start = 0;
  readMarkup(part, {
    open(tag, path) {
      const { name, attributes, isEmpty, end } = tag;
      const isInRun = path.at(-1) === 'w:r';
      if (name === 'w:br' && attributes['w:type'] === 'page') isAfterBreak = true;
      if (['w:p', 'w:t', 'w:drawing'].includes(name)) isAfterBreak = false;
      if (name === 'w:r') properties.push('');
      if (name === 'w:rPr' && isInRun) start = tag.start;
      if (name !== MARK || !isEmpty || !isInRun || isAfterBreak) return;
      if (!path.every((each) => AROUND.has(each))) return;
      const number = edits.length + 1;
      const id = String(FIRST_ID + number);
      const bookmark =
        emptyElement('w:bookmarkStart', { 'w:id': id, 'w:name': `${BOOKMARK}${number}` }) +
        emptyElement('w:bookmarkEnd', { 'w:id': id });
      edits.push({ start: tag.start, end, text: `</w:r>${bookmark}<w:r>${properties.at(-1)}` });
    },
    close(name, path, end) {
      if (name === 'w:r') properties.pop();
      if (name === 'w:rPr' && path.at(-1) === 'w:r')
        properties[properties.length - 1] = part.slice(start, end);
    },
  });
  return edits;
}

/** Reads how many pages Word recorded in the properties of a document. Returns `undefined` if it recorded none. */
export function readPageCount(properties: string): number | undefined {
  let count = 0;
  let isWord = false;
  readMarkup(properties || '<Properties/>', {
    open() {},
    text(text, path) {
      if (path.at(-1) === 'Pages') count = Number(text);
      if (path.at(-1) === 'Application') isWord = /^Microsoft .*Word/.test(text);
    },
  });
  return isWord && Number.isSafeInteger(count) && count > 0 ? count : undefined;
}

/**
 * Returns the number of pages that a document had when it got its marks. Returns 0 if it is unknown, because Word recorded one page
 * after some kinds of saving, whatever there was, and `undefined` if the marks cannot be right.
 */
export function countPages(recorded: number, marks: number): number | undefined {
  if (marks === 0) return recorded;
  if (recorded === 1) return marks <= MAX_MARKS ? 0 : undefined;
  return marks <= MAX_MARKS_PER_PAGE * recorded ? recorded : undefined;
}
