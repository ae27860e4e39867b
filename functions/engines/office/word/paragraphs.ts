import {
  type Attributes,
  type Edit,
  emptyElement,
  isOn,
  readMarkup,
  readNumber,
  type Tag,
  withAttributes,
} from '../markup.ts';
import { type Formatting, readParagraph, type Styles } from './styles.ts';

/** Properties of a paragraph that change, by the names of their elements. */
type Property = 'w:spacing' | 'w:ind';

export interface Paragraph {
  /** The cell that contains the paragraph. */
  readonly cell: Cell | undefined;
  /** The paragraph's own tag, and those of its properties. */
  readonly tag: Tag;
  properties?: Tag;
  readonly own: Map<Property, Tag>;
  /** New attributes of its properties. */
  readonly changes: Map<Property, Attributes>;
  /** Formatting of the paragraph, of the mark at its end, and of the text that is being read. */
  formatting: Formatting;
  mark: Formatting;
  text: Formatting;
  readonly texts: Text[];
  readonly pictures: Picture[];
  /** Whether it contains more than text, such as a picture or a formula. */
  hasObject: boolean;
  /** Number of line breaks. */
  breaks: number;
}

/** A cell of a table. */
export interface Cell {
  /** Width in points; 0 if it is unknown. */
  width: number;
  readonly paragraphs: Paragraph[];
  hasTable: boolean;
  isMerged: boolean;
}

export interface Row {
  readonly tag: Tag;
  properties?: Tag;
  isSplittable: boolean;
  readonly cells: Cell[];
}

/** A piece of text in the same formatting. */
export interface Text {
  readonly text: string;
  readonly formatting: Formatting;
  /** Whether it has ideographs or kana, which are as wide as the font size. */
  readonly isAsian: boolean;
  /** Approximate width in points. */
  readonly width: number;
}

/** Size in points. */
export interface Picture {
  readonly width: number;
  readonly height: number;
}

/** A section, with the tags of its grid, margins and page size. */
export interface Section {
  readonly paragraphs: Paragraph[];
  readonly rows: Row[];
  grid?: Tag;
  margins?: Tag;
  paper?: Tag;
}

const OBJECTS = ['w:drawing', 'w:pict', 'w:object', 'm:oMath'];
const IDEOGRAPHS = /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]/;
/** Average width of a Latin letter in font sizes. */
const LATIN_WIDTH = 0.5;
const EMU_PER_POINT = 12_700;
/** Maximum number of paragraphs, which bounds memory. A book of 1,000 pages has 20,000. */
const MAX_PARAGRAPHS = 40_000;
export const TWIPS = 20;
/** Word's margins at the left and at the right of a cell, in points. */
export const CELL_MARGINS = (2 * 108) / TWIPS;

/** Returns the approximate width of a text in points. */
export function textWidth(text: string, { size = 0 }: Formatting, isAsian = IDEOGRAPHS.test(text)): number {
  return text.length * size * (isAsian ? 1 : LATIN_WIDTH);
}

/** Returns the width of the text in points; unlimited if it is unknown. */
export function widthOf({ paper, margins }: Section): number {
  const twips = (tag: Tag | undefined, name: string) => readNumber(tag?.attributes[name]) ?? 0;
  const width = twips(paper, 'w:w') - twips(margins, 'w:left') - twips(margins, 'w:right');
  return width > 0 ? width / TWIPS : Number.POSITIVE_INFINITY;
}

/** Returns the attributes of a property, with the changes so far. */
export function attributesOf({ own, changes }: Paragraph, property: Property): Attributes {
  return changes.get(property) ?? own.get(property)?.attributes ?? {};
}

/** Returns the edits that write the changed properties of a paragraph. */
export function propertyEdits({ tag, properties, own, changes }: Paragraph): Edit[] {
  const edits: Edit[] = [];
  let added = '';
  for (const [name, attributes] of changes) {
    const tagOfProperty = own.get(name);
    if (tagOfProperty) edits.push(withAttributes(tagOfProperty, attributes));
    else added += emptyElement(name, attributes);
  }
  if (added === '') return edits;
  const place = properties ?? tag;
  const text = properties ? added : `<w:pPr>${added}</w:pPr>`;
  edits.push(
    place.isEmpty
      ? { start: place.end - '/>'.length, end: place.end, text: `>${text}</${place.name}>` }
      : { start: place.end, end: place.end, text },
  );
  return edits;
}

/**
 * Reads the paragraphs of a document, each with its formatting.
 * @throws Error if the text is not well-formed or has too many paragraphs.
 */
export function readSections(document: string, styles: Styles): Section[] {
  const sections: Section[] = [];
  // A text box is inside a paragraph and contains others.
  const around: Paragraph[] = [];
  const tables: Table[] = [];
  let paragraphs = 0;
  let section: Section = { paragraphs: [], rows: [] };
  const cellOf = (table: Table | undefined) => table?.row?.cells.at(-1);
  readMarkup(document, {
    open(tag, path) {
      const { name, attributes } = tag;
      if (name === 'w:tbl') {
        const cell = cellOf(tables.at(-1));
        if (cell) cell.hasTable = true;
        tables.push({ columns: [], column: 0 });
      }
      const table = tables.at(-1);
      if (table) readTable(table, tag, path, section);
      // Tracked changes contain the former properties of a section.
      if (path.at(-1) === 'w:sectPr' && path.at(-2) !== 'w:sectPrChange') {
        if (name === 'w:docGrid') section.grid = tag;
        if (name === 'w:pgMar') section.margins = tag;
        if (name === 'w:pgSz') section.paper = tag;
      }
      if (name === 'w:p') {
        paragraphs += 1;
        if (paragraphs > MAX_PARAGRAPHS) throw new Error('The document has too many paragraphs.');
        const paragraph: Paragraph = {
          cell: cellOf(table),
          tag,
          formatting: styles.formatting(undefined, table?.styleId),
          mark: {},
          text: {},
          own: new Map(),
          changes: new Map(),
          texts: [],
          pictures: [],
          hasObject: false,
          breaks: 0,
        };
        paragraph.cell?.paragraphs.push(paragraph);
        around.push(paragraph);
        section.paragraphs.push(paragraph);
        return;
      }
      const paragraph = around.at(-1);
      if (!paragraph) return;
      const place = path.slice(-2).join(' ');
      if (name === 'w:pPr' && path.at(-1) === 'w:p') paragraph.properties = tag;
      if (name === 'w:r') paragraph.text = {};
      if (OBJECTS.includes(name)) paragraph.hasObject = true;
      if (name === 'w:br' || name === 'w:cr') paragraph.breaks += 1;
      if (name === 'w:pStyle' && place === 'w:p w:pPr')
        paragraph.formatting = styles.formatting(attributes['w:val'], table?.styleId);
      if ((name === 'w:spacing' || name === 'w:ind') && place === 'w:p w:pPr') paragraph.own.set(name, tag);
      if (name === 'wp:extent' && path.at(-1) === 'wp:inline')
        paragraph.pictures.push({ width: points(attributes.cx), height: points(attributes.cy) });
      if (place === 'w:p w:pPr' || (place === 'w:pPr w:numPr' && path.at(-3) === 'w:p'))
        paragraph.formatting = { ...paragraph.formatting, ...readParagraph(name, attributes) };
      const read = styles.readText(name, attributes);
      if (place === 'w:pPr w:rPr') paragraph.mark = { ...paragraph.mark, ...read };
      if (place === 'w:r w:rPr') paragraph.text = { ...paragraph.text, ...read };
    },
    text(text, path) {
      const paragraph = around.at(-1);
      if (path.at(-1) !== 'w:t' || !paragraph) return;
      const formatting = { ...paragraph.formatting, ...paragraph.text };
      if (formatting.isHidden || text.trim() === '') return;
      const isAsian = IDEOGRAPHS.test(text);
      paragraph.texts.push({ text, formatting, isAsian, width: textWidth(text, formatting, isAsian) });
    },
    close(name, path) {
      if (name === 'w:tbl') tables.pop();
      if (name === 'w:p') around.pop();
      if (name !== 'w:sectPr' || path.at(-1) === 'w:sectPrChange') return;
      sections.push(section);
      section = { paragraphs: [], rows: [] };
    },
  });
  // Only documents have sections. Their headers and notes do not.
  return section.paragraphs.length > 0 ? [...sections, section] : sections;
}

interface Table {
  styleId?: string | undefined;
  /** Widths of its columns in points, as Word last laid it out. */
  readonly columns: number[];
  row?: Row;
  /** Number of columns of the row that have been read. */
  column: number;
}

function readTable(table: Table, tag: Tag, path: readonly string[], section: Section): void {
  const { name, attributes } = tag;
  const { columns, row } = table;
  const parent = path.at(-1);
  const cell = row?.cells.at(-1);
  const skip = (count = 0) => {
    const skipped = columns.slice(table.column, table.column + count);
    table.column += count;
    return skipped.reduce((sum, width) => sum + width, 0);
  };
  if (name === 'w:tblStyle') table.styleId = attributes['w:val'];
  // Tracked changes contain the former columns.
  if (name === 'w:gridCol' && path.at(-2) === 'w:tbl')
    columns.push((readNumber(attributes['w:w']) ?? 0) / TWIPS);
  if (name === 'w:tr') {
    table.row = { tag, isSplittable: true, cells: [] };
    table.column = 0;
    section.rows.push(table.row);
  }
  if (!row) return;
  if (name === 'w:trPr' && parent === 'w:tr') row.properties = tag;
  if (name === 'w:gridBefore') skip(readNumber(attributes['w:val']));
  if (name === 'w:cantSplit' && isOn(attributes['w:val'])) row.isSplittable = false;
  if (name === 'w:tc') row.cells.push({ width: skip(1), paragraphs: [], hasTable: false, isMerged: false });
  if (!cell || parent !== 'w:tcPr') return;
  if (name === 'w:gridSpan') cell.width += skip((readNumber(attributes['w:val']) ?? 1) - 1);
  if (name === 'w:vMerge') cell.isMerged = true;
}

/** Reads a length in English Metric Units. */
function points(value: string | undefined): number {
  return (readNumber(value) ?? 0) / EMU_PER_POINT;
}
