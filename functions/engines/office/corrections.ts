import { chartEdits } from './charts.ts';
import { readParts, withParts } from './detect/archive.ts';
import { applyEdits, type Edit, readMarkup, type Tag } from './markup.ts';
import { savedValueEdits, scrollEdits, slicerEdits } from './sheets/sheet-edits.ts';
import { TABLE_PARTS, tableStyleEdits } from './sheets/tables.ts';
import { formulaEdits, slideEdits } from './slides.ts';

/** Corrects what LibreOffice reads wrongly in parts of a document. */
interface Correction {
  readonly part: RegExp;
  edits?(text: string, parts: ReadonlyMap<string, string>): Edit[];
  /** Returns edits that belong together, by part. */
  allEdits?(parts: ReadonlyMap<string, string>): ReadonlyMap<string, readonly Edit[]>;
}

const SLIDES = /^ppt\/slides\/slide\d+\.xml$/;
const SLIDE_PARTS = /^ppt\/slide(?:s|Layouts|Masters)\/.+\.xml$/;
/** Hangul, Kana and ideographs. */
const EAST_ASIAN = /[\u1100-\u11ff\u3040-\u318f\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]/;
const FEATURES = /^xl\/featurePropertyBag\/.+\.xml$/;
const CHARTS: Correction = { part: /^(?:xl|ppt|word)\/charts\/chart\d*\.xml$/, edits: chartEdits };

const SHEETS = /^xl\/worksheets\/.+\.xml$/;
const VALUES: Correction = { part: SHEETS, edits: savedValueEdits };
const WORKBOOK: readonly Correction[] = [
  { part: /^xl\/(?:work|chart)sheets\/.+\.xml$/, edits: sheetMarginEdits },
  {
    part: /^xl\/styles\.xml$/,
    edits: (styles, parts) =>
      [...parts].some(([name, text]) => FEATURES.test(name) && hasCheckboxes(text))
        ? checkboxEdits(styles)
        : [],
  },
  { part: FEATURES },
  VALUES,
  { part: SHEETS, edits: scrollEdits },
  { part: /^xl\/drawings\/.+\.xml$/, edits: slicerEdits },
  { part: TABLE_PARTS, allEdits: tableStyleEdits },
  CHARTS,
];
const PRESENTATION: readonly Correction[] = [
  { part: SLIDES, edits: bulletEdits },
  { part: SLIDE_PARTS, edits: formulaEdits },
  { part: SLIDE_PARTS, edits: slideEdits },
  CHARTS,
];

/**
 * Returns the corrections of a kind of document such as `xlsx`: those of its look, or only those of its values. Those of the text of
 * Word documents are in `word/`.
 */
export function correctionsOf(kind: string, { isPrinted = true } = {}): readonly Correction[] {
  if (/^xl[st][xm]$/.test(kind)) return isPrinted ? WORKBOOK : [VALUES];
  if (!isPrinted) return [];
  if (/^do[ct][xm]$/.test(kind)) return [CHARTS];
  return /^p[op][tsp][xm]$/.test(kind) ? PRESENTATION : [];
}

/** A document whose parts were corrected. */
interface Corrected {
  /** The changed document; `undefined` if nothing needs to change. */
  readonly bytes: Buffer | undefined;
  /** Whether a slide has East Asian text. */
  readonly isEastAsian: boolean;
}

/**
 * Changes a document before LibreOffice reads it. The result is only for PDF, because it is no longer what its author wrote. A part
 * that is not well-formed is left alone.
 */
export async function correct(bytes: Buffer, corrections: readonly Correction[]): Promise<Corrected> {
  if (corrections.length === 0) return { bytes: undefined, isEastAsian: false };
  const parts = await readParts(bytes, (name) => corrections.some(({ part }) => part.test(name)));
  const changed = new Map<string, string>();
  const related = corrections.map((correction) => attempt(() => correction.allEdits?.(parts)));
  for (const [name, original] of parts) {
    let text = applyEdits(
      original,
      related.flatMap((each) => each?.get(name) ?? []),
    );
    // One after the other, because they may change the same place.
    for (const { part, edits } of corrections) {
      if (part.test(name)) text = applyEdits(text, attempt(() => edits?.(text, parts)) ?? []);
    }
    if (text !== original) changed.set(name, text);
  }
  return {
    bytes: changed.size > 0 ? await withParts(bytes, changed) : undefined,
    isEastAsian: [...parts].some(([name, text]) => SLIDES.test(name) && EAST_ASIAN.test(text)),
  };
}

function attempt<Result>(edit: () => Result): Result | undefined {
  try {
    return edit();
  } catch {
    return undefined;
  }
}

/** Elements of paragraph properties that stand before the character of a bullet, which say that it has a font. */
const FONTS = ['a:buFont', 'a:buFontTx'];
const LEVEL = /^a:lvl([1-9])pPr$/;
/** Font of the text of a theme. */
const THEME_FONT = '+mn-lt';

/** Properties of a paragraph or of a level of a list, which are being read. */
interface Properties {
  readonly level: string;
  hasFont: boolean;
  /** The bullet's character, if it may need a font. */
  bullet: Tag | undefined;
}

/**
 * Gives bullets in text boxes the font of their text, as in PowerPoint, if the slide names none. LibreOffice draws such bullets in a
 * symbol font, at another height. Placeholders are left alone, because their masters name a font.
 * @throws Error if the text is not well-formed.
 */
function bulletEdits(slide: string): Edit[] {
  const edits: Edit[] = [];
  if (!slide.includes('<a:buChar')) return edits;
  let isPlaceholder = false;
  /** Levels of the text box's own list style that have a font. */
  let levels = new Set<string>();
  let properties: Properties | undefined;
  let pending: Tag | undefined;
  const give = (bullet: Tag | undefined, font: string) => {
    if (!bullet) return;
    const typeface = font.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
    const text = `<a:buFont typeface="${typeface}"/>`;
    edits.push({ start: bullet.start, end: bullet.start, text });
  };
  readMarkup(slide, {
    open(tag, path) {
      const { name, attributes } = tag;
      if (name === 'p:sp' || name === 'a:tc') [isPlaceholder, levels] = [false, new Set()];
      if (name === 'p:ph') isPlaceholder = true;
      if (name === 'a:pPr' && path.at(-1) === 'a:p')
        properties = { level: String(Number(attributes.lvl ?? 0) + 1), hasFont: false, bullet: undefined };
      const level = LEVEL.exec(name)?.[1];
      if (level) properties = { level, hasFont: false, bullet: undefined };
      if (properties && FONTS.includes(name)) properties.hasFont = true;
      if (properties && name === 'a:buChar') properties.bullet = tag;
      // The first run decides how a bullet looks.
      if (name === 'a:latin' && pending && path.at(-1) === 'a:rPr') {
        give(pending, attributes.typeface || THEME_FONT);
        pending = undefined;
      }
    },
    close(name, path) {
      if (LEVEL.test(name) && properties) {
        if (properties.hasFont) levels.add(properties.level);
        properties = undefined;
      }
      if (name === 'a:pPr' && properties) {
        const isPlain = !isPlaceholder && !properties.hasFont && !levels.has(properties.level);
        pending = isPlain ? properties.bullet : undefined;
        properties = undefined;
      }
      const endsFirstRun = name === 'a:r' && path.at(-1) === 'a:p';
      if (!endsFirstRun && name !== 'a:p') return;
      give(pending, THEME_FONT);
      pending = undefined;
    },
  });
  return edits;
}

/** Built-in number formats end at 163, and Excel numbers its own from there. */
const FORMAT_ID = 9000;
const FORMAT = '[=1]&quot;\u2611\ufe0e&quot;;[=0]&quot;\u2610\ufe0e&quot;;General';
const DEFINITION = `<numFmt numFmtId="${FORMAT_ID}" formatCode="${FORMAT}"/>`;

/** Whether the part that lists the features of cells in Excel 365 has checkboxes. */
function hasCheckboxes(features: string): boolean {
  return /\btype="Checkbox"/.test(features);
}

/**
 * Draws checkboxes in cells, which LibreOffice prints as TRUE and FALSE, with a number format.
 * @param styles the part with the formats of all cells
 * @throws Error if the text is not well-formed.
 */
function checkboxEdits(styles: string): Edit[] {
  const edits: Edit[] = [];
  let format: Tag | undefined;
  let hasAlignment = false;
  let formats: Tag | undefined;
  let root: Tag | undefined;
  readMarkup(styles, {
    open(tag, path) {
      root ??= tag;
      if (tag.name === 'numFmts') formats = tag;
      if (tag.name === 'xf' && path.at(-1) === 'cellXfs') [format, hasAlignment] = [tag, false];
      if (tag.name === 'alignment') hasAlignment = true;
      if (!tag.name.endsWith(':xfComplement') || !format) return;
      const text = styles
        .slice(format.start, format.end)
        .replace(/\s(numFmtId|applyNumberFormat|applyAlignment)="[^"]*"/g, '')
        .replace(
          />$/,
          ` numFmtId="${FORMAT_ID}" applyNumberFormat="1" applyAlignment="1">${hasAlignment ? '' : '<alignment horizontal="center"/>'}`,
        );
      edits.push({ start: format.start, end: format.end, text });
      format = undefined;
    },
    close(name) {
      if (name === 'xf') format = undefined;
    },
  });
  if (edits.length === 0 || !root) return [];
  if (formats?.isEmpty) {
    edits.push({ start: formats.start, end: formats.end, text: `<numFmts>${DEFINITION}</numFmts>` });
  } else {
    const { end } = formats ?? root;
    edits.push({
      start: end,
      end,
      text: formats ? DEFINITION : `<numFmts count="1">${DEFINITION}</numFmts>`,
    });
  }
  return edits;
}

const MARGINS = /<((?:odd|even|first)(?:Header|Footer))\b[^<>]*>([^<>]*)<\/\1>/g;
const ESCAPES = /_x([\da-f]{4})_/gi;
const XML_ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/**
 * Replaces characters that are written as `_xHHHH_` in the headers and footers of a sheet. LibreOffice prints the escape itself there,
 * and decodes it only in cells.
 */
function sheetMarginEdits(sheet: string): Edit[] {
  const edits: Edit[] = [];
  for (const { 0: whole, 2: text = '', index } of sheet.matchAll(MARGINS)) {
    const decoded = text.replace(ESCAPES, (_, code: string) => characterOf(Number.parseInt(code, 16)));
    if (decoded === text) continue;
    const start = index + whole.lastIndexOf(text);
    edits.push({ start, end: start + text.length, text: decoded.replace(/\r\n?/g, '\n') });
  }
  return edits;
}

/** Returns a character as XML text, or nothing if XML does not allow it. */
function characterOf(code: number): string {
  const isAllowed =
    code === 9 || code === 10 || code === 13 || (code >= 32 && code < 0xd800) || code >= 0xe000;
  const character = isAllowed && code < 0xfffe ? String.fromCharCode(code) : '';
  return XML_ESCAPES[character] ?? character;
}
