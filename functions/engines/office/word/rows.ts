import { type Edit, readMarkup, readNumber, type Tag, withAttributes } from '../markup.ts';
import { CELL_MARGINS, type Cell, type Paragraph, type Row, type Section, textWidth } from './paragraphs.ts';

/** A paragraph is only split into parts of at least two lines. */
const MIN_PART = 2;
/** Width of narrow letters, such as those of Times New Roman, of the estimated one. */
const NARROW = 0.84;

/**
 * Keeps table rows together that Word keeps together in most places because of widow control. Word splits a row where each cell
 * keeps a part that it may be split into. LibreOffice has no widow control in tables, and splits the row anywhere.
 */
export function keepRowsTogether({ rows }: Section): Edit[] {
  return rows.filter(isTogether).map(({ tag, properties }) => {
    const keep = '<w:cantSplit/>';
    if (properties && !properties.isEmpty) return { start: properties.end, end: properties.end, text: keep };
    const { start, end } = properties ?? { start: tag.end, end: tag.end };
    return { start, end, text: `<w:trPr>${keep}</w:trPr>` };
  });
}

/** Whether the smallest part of a row that Word leaves on a page is most of the row, with narrow letters and with wide ones. */
function isTogether({ tag, isSplittable, cells }: Row): boolean {
  if (tag.isEmpty || !isSplittable) return false;
  const parts = cells.map((cell) => {
    const [most, fewest] = [linesOf(cell, 1), linesOf(cell, 1 / NARROW)];
    return { smallest: Math.min(smallestPart(most), smallestPart(fewest)), lines: sum(most) };
  });
  const smallest = Math.max(...parts.map((part) => part.smallest));
  return smallest > 1 && smallest > Math.max(...parts.map(({ lines }) => lines)) / 2;
}

function smallestPart([first = 0]: readonly number[]): number {
  return first < 2 * MIN_PART ? first : MIN_PART;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/** Estimates the lines of the parts of a cell: of its paragraphs, and of what follows the first line without widow control. */
function linesOf({ width, paragraphs, hasTable, isMerged }: Cell, scale: number): number[] {
  const isText = !hasTable && !isMerged && paragraphs.every(({ hasObject }) => !hasObject);
  if (width <= CELL_MARGINS || !isText) return [1, Number.POSITIVE_INFINITY];
  return paragraphs.flatMap((paragraph) => {
    const lines = paragraph.breaks + wrappedLines(paragraph, (width - CELL_MARGINS) * scale);
    return paragraph.formatting.hasWidowControl === false ? [1, lines - 1] : [lines];
  });
}

function wrappedLines({ texts }: Paragraph, width: number): number {
  let [lines, used] = [1, 0];
  for (const { text, formatting } of texts) {
    for (const [word] of text.matchAll(/\s+|\S+/g)) {
      const length = textWidth(word, formatting);
      if (used > 0 && used + length > width && word.trim() !== '') [lines, used] = [lines + 1, 0];
      // A word that is longer than a line, or a text without spaces, takes several.
      const more = word.trim() === '' ? 0 : Math.max(0, Math.ceil(length / width) - 1);
      lines += more;
      used += length - more * width;
    }
  }
  return lines;
}

interface Table {
  /** Preferred width. */
  width?: Tag;
  isFixed: boolean;
  /** Sum of the widths of its columns in twips, as Word last laid it out. */
  columns: number;
}

/**
 * Makes tables as wide as the sum of their columns. Word widens a table beyond its preferred width if the words in its cells need
 * it, unless its layout is fixed, and stores the widths of the columns that result. LibreOffice scales them back to the preferred
 * width, in which these words no longer fit.
 * @throws Error if the text is not well-formed.
 */
export function tableWidthEdits(document: string): Edit[] {
  const edits: Edit[] = [];
  if (!document.includes('<w:tblW ')) return edits;
  const tables: Table[] = [];
  readMarkup(document, {
    open(tag, path) {
      if (tag.name === 'w:tbl') tables.push({ isFixed: false, columns: 0 });
      const table = tables.at(-1);
      // Tracked changes contain the properties and the grid that a table had before.
      if (!table || path.at(-2) !== 'w:tbl') return;
      if (tag.name === 'w:tblW') table.width = tag;
      if (tag.name === 'w:tblLayout') table.isFixed = tag.attributes['w:type'] === 'fixed';
      if (tag.name === 'w:gridCol') table.columns += readNumber(tag.attributes['w:w']) ?? 0;
    },
    close(name) {
      if (name !== 'w:tbl') return;
      const { width, isFixed, columns } = tables.pop()!;
      if (!width || isFixed || width.attributes['w:type'] !== 'dxa') return;
      const preferred = readNumber(width.attributes['w:w']) ?? 0;
      // Without a preferred width, LibreOffice uses that of the columns.
      if (preferred > 0 && preferred < columns)
        edits.push(withAttributes(width, { ...width.attributes, 'w:w': String(columns) }));
    },
  });
  return edits;
}
