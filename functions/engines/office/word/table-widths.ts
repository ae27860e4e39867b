import { type Edit, readMarkup, readNumber, type Tag, withAttributes } from '../markup.ts';

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
