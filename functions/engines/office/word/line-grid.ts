import type { Attributes, Edit } from '../markup.ts';
import { readNumber, withAttributes } from '../markup.ts';
import {
  attributesOf,
  type Paragraph,
  type Picture,
  type Section,
  type Text,
  TWIPS,
  widthOf,
} from './paragraphs.ts';
import type { Formatting } from './styles.ts';

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
/** Part of a line by which text may exceed it, because heights are rounded. */
const ROUNDING = 0.005;
const SINGLE = 240;

/**
 * Replaces the line grid of a document, on which most Chinese ones are set, with the line heights that Word gives to each
 * paragraph. LibreOffice has a line grid, too, but centers it on the page, keeps text in tables on it, and multiplies
 * it by the spacing of lines that are already higher than the grid. In Word, a line is as high as the spacing requires,
 * or as the whole lines of the grid that its text needs, whichever is more; a picture ends on the grid; and text in tables
 * is off the grid, unless the document's settings say otherwise. Measured in PDFs that Word made.
 *
 * Grids that also arrange characters remain. Changes the paragraphs, and returns the edits of the grid.
 */
export function replaceLineGrid(section: Section, snapsInTables: boolean): Edit[] {
  const pitch = pitchOf(section);
  if (pitch === undefined) return [];
  for (const paragraph of section.paragraphs) {
    if (paragraph.cell && !snapsInTables) continue;
    const attributes = spacingOf(paragraph, pitch, widthOf(section));
    if (attributes) changeSpacing(paragraph, attributes);
  }
  const { 'w:type': _, ...withoutType } = section.grid!.attributes;
  return [withAttributes(section.grid!, withoutType)];
}

/** Returns the height of the grid's lines in points, or `undefined` if there is no grid that only arranges lines. */
function pitchOf({ grid }: Section): number | undefined {
  const pitch = readNumber(grid?.attributes['w:linePitch']);
  return grid?.attributes['w:type'] === 'lines' && pitch !== undefined && pitch > 0
    ? pitch / TWIPS
    : undefined;
}

/** Returns the attributes of `w:spacing` that make the lines as high as on the grid. */
function spacingOf(paragraph: Paragraph, pitch: number, width: number): Attributes | undefined {
  const { formatting, mark, texts, pictures } = paragraph;
  const { snapsToGrid = true, line = SINGLE, lineRule = 'auto', after = 0 } = formatting;
  if (!snapsToGrid || lineRule === 'exact' || !(line > 0)) return undefined;
  const natural = usualHeight(texts, width) ?? heightOf({ ...formatting, ...mark }, false);
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
function usualHeight(texts: readonly Text[], width: number): number | undefined {
  const widths = new Map<number, number>();
  for (const text of texts) {
    const height = heightOf(text.formatting, text.isAsian);
    widths.set(height, (widths.get(height) ?? 0) + text.width);
  }
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

function changeSpacing(paragraph: Paragraph, attributes: Attributes): void {
  const { 'w:afterLines': afterLines, ...others } = attributesOf(paragraph, 'w:spacing');
  // Space in lines would take precedence over space in points.
  const isKept = afterLines !== undefined && !('w:after' in attributes);
  paragraph.changes.set('w:spacing', {
    ...others,
    ...(isKept && { 'w:afterLines': afterLines }),
    ...attributes,
  });
}
