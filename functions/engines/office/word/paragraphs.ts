import {
  type Attributes,
  type Edit,
  emptyElement,
  readMarkup,
  readNumber,
  type Tag,
  withAttributes,
} from './markup.ts';
import { type Formatting, readParagraph, type Styles } from './styles.ts';

/** Properties of a paragraph that change, by the names of their elements. */
type Property = 'w:spacing' | 'w:ind';

export interface Paragraph {
  readonly isInTable: boolean;
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
  grid?: Tag;
  margins?: Tag;
  paper?: Tag;
}

const IDEOGRAPHS = /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]/;
/** Average width of a Latin letter in font sizes. */
const LATIN_WIDTH = 0.5;
const EMU_PER_POINT = 12_700;
/** Maximum number of paragraphs, which bounds memory. A book of 1,000 pages has 20,000. */
const MAX_PARAGRAPHS = 40_000;
export const TWIPS = 20;

/** Returns the width of the text in points; unlimited if it is unknown. */
export function widthOf({ paper, margins }: Section): number {
  const twips = (tag: Tag | undefined, name: string) => readNumber(tag?.attributes[name]) ?? 0;
  const width = twips(paper, 'w:w') - twips(margins, 'w:left') - twips(margins, 'w:right');
  return width > 0 ? width / TWIPS : Number.POSITIVE_INFINITY;
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
  const tables: Array<{ styleId?: string | undefined }> = [];
  let paragraphs = 0;
  let section: Section = { paragraphs: [] };
  readMarkup(document, {
    open(tag, path) {
      const { name, attributes } = tag;
      if (name === 'w:tbl') tables.push({});
      if (name === 'w:tblStyle' && tables.length > 0) tables.at(-1)!.styleId = attributes['w:val'];
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
          isInTable: tables.length > 0,
          tag,
          formatting: styles.formatting(undefined, tables.at(-1)?.styleId),
          mark: {},
          text: {},
          own: new Map(),
          changes: new Map(),
          texts: [],
          pictures: [],
        };
        around.push(paragraph);
        section.paragraphs.push(paragraph);
        return;
      }
      const paragraph = around.at(-1);
      if (!paragraph) return;
      const place = path.slice(-2).join(' ');
      if (name === 'w:pPr' && path.at(-1) === 'w:p') paragraph.properties = tag;
      if (name === 'w:r') paragraph.text = {};
      if (name === 'w:pStyle' && place === 'w:p w:pPr')
        paragraph.formatting = styles.formatting(attributes['w:val'], tables.at(-1)?.styleId);
      if ((name === 'w:spacing' || name === 'w:ind') && place === 'w:p w:pPr') paragraph.own.set(name, tag);
      if (name === 'wp:extent' && path.at(-1) === 'wp:inline')
        paragraph.pictures.push({ width: points(attributes.cx), height: points(attributes.cy) });
      if (place === 'w:p w:pPr')
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
      const width = text.length * (formatting.size ?? 0) * (isAsian ? 1 : LATIN_WIDTH);
      paragraph.texts.push({ text, formatting, isAsian, width });
    },
    close(name, path) {
      if (name === 'w:tbl') tables.pop();
      if (name === 'w:p') around.pop();
      if (name !== 'w:sectPr' || path.at(-1) === 'w:sectPrChange') return;
      sections.push(section);
      section = { paragraphs: [] };
    },
  });
  return sections;
}

/** Reads a length in English Metric Units. */
function points(value: string | undefined): number {
  return (readNumber(value) ?? 0) / EMU_PER_POINT;
}
