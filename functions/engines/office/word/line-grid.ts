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

/**
 * Line heights of fonts in font sizes, as Word measures them, by lowercase names. The stand-ins in
 * `layers/fonts/metrics.json` have the same ones, which a test compares.
 */
export const LINE_HEIGHTS: ReadonlyMap<string, number> = new Map(
  (
    [
      [1.171, 'Consolas'],
      [1.172, 'Cambria, Cambria Math'],
      [1.207, 'Tahoma'],
      [1.215, 'Verdana'],
      [1.22, 'Calibri'],
      [1.221, 'Calibri Light, Constantia'],
      [1.221, 'Aptos, Aptos Display, Aptos Light, Aptos SemiBold, Bierstadt'],
      [1.226, 'Century Gothic'],
      [1.5, 'Poppins'],
      [1.33, 'Segoe UI, Segoe UI Light, Segoe UI Semilight, Segoe UI Semibold, Selawik'],
      [1.355, 'DengXian, DengXian Light, 等线, 等线 Light'],
      [
        1.671,
        'Yu Gothic, Yu Gothic Light, Yu Gothic Medium, Yu Gothic UI, YuGothic, 游ゴシック, 游ゴシック Light',
      ],
      [1.671, 'Yu Mincho, Yu Mincho Light, Yu Mincho Demibold, YuMincho, 游明朝'],
      [1.716, 'Microsoft YaHei, Microsoft YaHei Light, Microsoft YaHei UI, 微软雅黑'],
      [1.73, 'Malgun Gothic, Malgun Gothic Semilight, 맑은 고딕'],
      [1.73, 'Microsoft JhengHei, Microsoft JhengHei UI, 微軟正黑體'],
      [1.99, 'Meiryo, Meiryo UI, メイリオ'],
    ] as const
  ).flatMap(([height, names]) => names.split(', ').map((name) => [name.toLowerCase(), height] as const)),
);
/** Line heights of other fonts for ideographs, such as SimSun, and of other fonts, such as Times New Roman. */
const ASIAN_HEIGHT = 1.3;
const LATIN_HEIGHT = 1.15;
/** Average width of a Latin letter in font sizes. */
const LATIN_WIDTH = 0.5;

const IDEOGRAPHS = /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]/;
/** Part of a line by which text may exceed it, because heights are rounded. */
const ROUNDING = 0.005;
const TWIPS = 20;
const EMU_PER_POINT = 12_700;
const SINGLE = 240;
/** Maximum number of paragraphs, which bounds memory. A book of 1,000 pages has 20,000. */
const MAX_PARAGRAPHS = 40_000;

interface Paragraph {
  readonly isInTable: boolean;
  /** The paragraph's own tag, and those of its properties and of its spacing. */
  readonly tag: Tag;
  properties?: Tag;
  spacing?: Tag;
  /** Formatting of the paragraph, of the mark at its end, and of the text that is being read. */
  formatting: Formatting;
  mark: Formatting;
  text: Formatting;
  /** Width of the text by the height of its lines, both in points. */
  readonly widths: Map<number, number>;
  readonly pictures: Picture[];
}

/** Size in points. */
interface Picture {
  readonly width: number;
  readonly height: number;
}

/** A section, with the tags of its grid, margins and page size. */
interface Section {
  readonly paragraphs: Paragraph[];
  grid?: Tag;
  margins?: Tag;
  paper?: Tag;
}

/**
 * Replaces the line grid of a document, on which most Chinese ones are set, with the line heights that Word gives to each
 * paragraph. LibreOffice has a line grid, too, but centers it on the page, keeps text in tables on it, and multiplies
 * it by the spacing of lines that are already higher than the grid. In Word, a line is as high as the spacing requires,
 * or as the whole lines of the grid that its text needs, whichever is more; a picture ends on the grid; and text in tables
 * is off the grid, unless the document's settings say otherwise. Measured in PDFs that Word made.
 *
 * Grids that also arrange characters remain.
 * @throws Error if the text is not well-formed or has too many paragraphs.
 */
export function lineGridEdits(document: string, styles: Styles, snapsInTables: boolean): Edit[] {
  return readSections(document, styles).flatMap((section) => {
    const pitch = pitchOf(section);
    if (pitch === undefined) return [];
    const { 'w:type': _, ...withoutType } = section.grid!.attributes;
    const edits = [withAttributes(section.grid!, withoutType)];
    for (const paragraph of section.paragraphs) {
      if (paragraph.isInTable && !snapsInTables) continue;
      const attributes = spacingOf(paragraph, pitch, widthOf(section));
      if (attributes) edits.push(spacingEdit(paragraph, attributes));
    }
    return edits;
  });
}

/** Returns the height of the grid's lines in points, or `undefined` if there is no grid that only arranges lines. */
function pitchOf({ grid }: Section): number | undefined {
  const pitch = readNumber(grid?.attributes['w:linePitch']);
  return grid?.attributes['w:type'] === 'lines' && pitch !== undefined && pitch > 0
    ? pitch / TWIPS
    : undefined;
}

/** Returns the width of the text in points; unlimited if it is unknown. */
function widthOf({ paper, margins }: Section): number {
  const twips = (tag: Tag | undefined, name: string) => readNumber(tag?.attributes[name]) ?? 0;
  const width = twips(paper, 'w:w') - twips(margins, 'w:left') - twips(margins, 'w:right');
  return width > 0 ? width / TWIPS : Number.POSITIVE_INFINITY;
}

/** Returns the attributes of `w:spacing` that make the lines as high as on the grid. */
function spacingOf(paragraph: Paragraph, pitch: number, width: number): Attributes | undefined {
  const { formatting, mark, widths, pictures } = paragraph;
  const { snapsToGrid = true, line = SINGLE, lineRule = 'auto', after = 0 } = formatting;
  if (!snapsToGrid || lineRule === 'exact' || !(line > 0)) return undefined;
  const natural = usualHeight(widths, width) ?? heightOf({ ...formatting, ...mark }, false);
  const required = lineRule === 'auto' ? (line / SINGLE) * pitch : line / TWIPS;
  const height = Math.max(required, onGrid(natural, pitch));
  const attributes = { 'w:line': String(Math.round(height * TWIPS)), 'w:lineRule': 'atLeast' };
  // Below a picture, the rest of the grid's line may extend past the end of the page, so it is not part of the line.
  const rest = inLines(pictures, width)
    .map((each) => Math.max(0, onGrid(each, pitch) - Math.max(each, height)))
    .reduce((sum, each) => sum + each, 0);
  return rest === 0 ? attributes : { ...attributes, 'w:after': String(Math.round(after + rest * TWIPS)) };
}

/**
 * Returns the height of the lines that a text fills: of the highest text if it fills one line, otherwise of most of it,
 * because a line with higher text is higher by itself. Returns `undefined` if there is no text.
 */
function usualHeight(widths: ReadonlyMap<number, number>, width: number): number | undefined {
  const all = [...widths];
  if (all.length === 0) return undefined;
  if (all.reduce((sum, [, each]) => sum + each, 0) <= width) return Math.max(...widths.keys());
  return all.reduce((most, each) => (each[1] > most[1] ? each : most))[0];
}

/** Returns the heights of the lines that pictures fill. */
function inLines(pictures: readonly Picture[], width: number): number[] {
  const heights: number[] = [];
  let left = 0;
  for (const picture of pictures) {
    const isNext = heights.length > 0 && picture.width <= left;
    left = (isNext ? left : width) - picture.width;
    if (isNext) heights.push(Math.max(heights.pop()!, picture.height));
    else heights.push(picture.height);
  }
  return heights;
}

function onGrid(height: number, pitch: number): number {
  return Math.max(1, Math.ceil(height / pitch - ROUNDING)) * pitch;
}

function heightOf({ size = 0, latinFont = '', asianFont = '' }: Formatting, isAsian: boolean): number {
  const height = LINE_HEIGHTS.get((isAsian ? asianFont : latinFont).toLowerCase());
  return size * (height ?? (isAsian ? ASIAN_HEIGHT : LATIN_HEIGHT));
}

function spacingEdit({ tag, properties, spacing }: Paragraph, attributes: Attributes): Edit {
  if (spacing) {
    const { 'w:afterLines': _, ...others } = spacing.attributes;
    // Space in lines would take precedence over space in points.
    const kept = 'w:after' in attributes ? others : spacing.attributes;
    return withAttributes(spacing, { ...kept, ...attributes });
  }
  const element = emptyElement('w:spacing', attributes);
  const place = properties ?? tag;
  const added = properties ? element : `<w:pPr>${element}</w:pPr>`;
  if (!place.isEmpty) return { start: place.end, end: place.end, text: added };
  return { start: place.end - '/>'.length, end: place.end, text: `>${added}</${place.name}>` };
}

function readSections(document: string, styles: Styles): Section[] {
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
          widths: new Map(),
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
      if (name === 'w:spacing' && place === 'w:p w:pPr') paragraph.spacing = tag;
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
      const height = heightOf(formatting, isAsian);
      const width = text.length * (formatting.size ?? 0) * (isAsian ? 1 : LATIN_WIDTH);
      paragraph.widths.set(height, (paragraph.widths.get(height) ?? 0) + width);
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
