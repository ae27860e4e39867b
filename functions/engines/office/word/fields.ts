import { type Attributes, type Edit, emptyElement, isOn, readMarkup, withAttributes } from '../markup.ts';

/** A field, which has a begin, an instruction, a separator, a result and an end. */
interface Field {
  instruction: string;
  /** Edits that remove everything but the result. */
  readonly removals: Edit[];
  isSeparated: boolean;
  /** Whether Word computes the result when it opens the document, or from another field. */
  isKept: boolean;
  /** Where the result begins, if runs of a paragraph contain it. */
  result?: { readonly start: number; readonly paragraph: number };
}

/** Fields that Word computes when it prints a document, those that do or draw something, and those whose result it hides. */
const LIVE =
  /^\s*(PAGE|NUMPAGES|SECTION|SECTIONPAGES|DATE|TIME|HYPERLINK|FORM\w+|EQ|SYMBOL|ADVANCE|EMBED|LINK|INCLUDE\w+|\w+BUTTON|SET|ASK)(?!\w)/i;
const MARKS = ['w:fldChar', 'w:instrText', 'w:delInstrText'];
const LINK_END = '</w:hyperlink>';

/**
 * Replaces fields, such as references and tables of contents, with their results in the document, which is what Word prints.
 * LibreOffice computes them again: references to missing bookmarks become errors, and a table of contents becomes a section of
 * its own, which adds a page before another section. References remain links.
 * @throws Error if the text is not well-formed.
 */
export function fieldEdits(part: string): Edit[] {
  const edits: Edit[] = [];
  if (!part.includes('<w:fld')) return edits;
  const fields: Field[] = [];
  const simpleEnds: Array<string | undefined> = [];
  let [paragraph, run] = [0, 0];
  let isInParagraph = false;
  /** Start of the part of a field that is being read. */
  let start = 0;
  let type: string | undefined;

  /** Whether a field around may be a link. A link in another one crashes LibreOffice. */
  const isInLink = () => fields.some(({ instruction }) => LIVE.test(instruction));

  function end(field: Field) {
    const { instruction, removals, isSeparated, isKept, result } = field;
    if (!isSeparated || isKept || LIVE.test(instruction)) return;
    edits.push(...removals);
    const link = linkOf(instruction);
    if (link === '' || isInLink()) return;
    if (result?.paragraph !== paragraph || result.start > run || !isInParagraph) return;
    edits.push({ start: result.start, end: result.start, text: link });
    edits.push({ start: run, end: run, text: LINK_END });
  }

  readMarkup(part, {
    open({ name, attributes, start: tagStart, end: tagEnd, isEmpty }, path) {
      if (name === 'w:p') paragraph += 1;
      if (name === 'w:r') [run, isInParagraph] = [tagStart, path.at(-1) === 'w:p'];
      if (name === 'w:rStyle' || name === 'w:webHidden') start = tagStart;
      if (name === 'w:fldSimple') {
        const instruction = attributes['w:instr'] ?? '';
        const link = path.at(-1) === 'w:p' && !isInLink() ? linkOf(instruction) : '';
        const isReplaced = !isEmpty && !LIVE.test(instruction) && !isDirty(attributes);
        if (isReplaced) edits.push({ start: tagStart, end: tagEnd, text: link });
        simpleEnds.push(isReplaced ? link && LINK_END : undefined);
      }
      if (!MARKS.includes(name)) return;
      start = tagStart;
      type = attributes['w:fldCharType'];
      if (type !== 'begin') return;
      const around = fields.at(-1);
      if (around && !around.isSeparated) around.isKept = true;
      fields.push({ instruction: '', removals: [], isSeparated: false, isKept: isDirty(attributes) });
    },
    text(text, path) {
      const field = fields.at(-1);
      if (/^w:(i|delI)nstrText$/.test(path.at(-1) ?? '') && field && !field.isSeparated)
        field.instruction += text;
    },
    close(name, path, tagEnd) {
      const field = fields.at(-1);
      if (name === 'w:fldSimple') {
        const text = simpleEnds.pop();
        if (text !== undefined) edits.push({ start: part.lastIndexOf('<', tagEnd - 1), end: tagEnd, text });
      }
      if (!field) return;
      const isLinkStyle = name === 'w:rStyle' && path.includes('w:hyperlink');
      // Entries of contents do not look like links, and LibreOffice hides in print what is hidden in browsers.
      if (isLinkStyle || name === 'w:webHidden')
        fields.find(isContents)?.removals.push({ start, end: tagEnd, text: '' });
      if (name === 'w:r' && path.at(-1) === 'w:p' && field.isSeparated)
        field.result ??= { start: tagEnd, paragraph };
      if (!MARKS.includes(name)) return;
      field.removals.push({ start, end: tagEnd, text: '' });
      if (type === 'separate') field.isSeparated = true;
      if (type === 'end') end(fields.pop()!);
    },
  });
  return edits;
}

function isContents({ instruction }: Field): boolean {
  return /^\s*TOC\b/i.test(instruction);
}

function isDirty({ 'w:dirty': dirty = '0' }: Attributes): boolean {
  return isOn(dirty);
}

/** Returns the start of a link to the bookmark that an instruction refers to. */
function linkOf(instruction: string): string {
  const bookmark = /^\s*(?:REF|PAGEREF|NOTEREF)\s+"?([^\s"\\]+).*\\h\b/i.exec(instruction)?.[1];
  return bookmark ? emptyElement('w:hyperlink', { 'w:anchor': bookmark }).replace(/\/>$/, '>') : '';
}

const FIELD_MARKS = new Set(['w:fldChar', 'w:instrText', 'w:delInstrText']);

/** A run whose children are being read. */
interface Run {
  readonly depth: number;
  properties: string;
  hasChild: boolean;
  isAfterMark: boolean;
}

/**
 * Splits runs that mix field characters (`w:fldChar`) with other text, because LibreOffice drops the formatting of
 * such a run at its first field character.
 * @throws Error if the text is not well-formed.
 */
export function fieldRunEdits(part: string): Edit[] {
  const edits: Edit[] = [];
  if (!part.includes('<w:fldChar')) return edits;
  const runs: Run[] = [];
  let start = 0;
  readMarkup(part, {
    open(tag, path) {
      const run = runs.at(-1);
      if (run && path.length === run.depth + 1) {
        if (tag.name === 'w:rPr') start = tag.start;
        else {
          const isMark = FIELD_MARKS.has(tag.name);
          if (run.hasChild && (isMark || run.isAfterMark))
            edits.push({ start: tag.start, end: tag.start, text: `</w:r><w:r>${run.properties}` });
          run.hasChild = true;
          run.isAfterMark = isMark;
        }
      }
      if (tag.name === 'w:r')
        runs.push({ depth: path.length, properties: '', hasChild: false, isAfterMark: false });
    },
    close(name, path, end) {
      const run = runs.at(-1);
      if (name === 'w:r') runs.pop();
      if (name === 'w:rPr' && run && path.length === run.depth + 1) run.properties = part.slice(start, end);
    },
  });
  return edits;
}

/**
 * Fonts for the labels of lists. In Word, a label makes its line higher by what is above the baseline, but not by what is below it,
 * so the stand-in of such a font in `layers/fonts/metrics.json` has little below the baseline.
 */
const LABEL_FONTS: ReadonlyMap<string, string> = new Map([['Courier New', 'Courier New Label']]);
const FONT_ATTRIBUTES = ['w:ascii', 'w:hAnsi', 'w:cs'];

/**
 * Gives the labels of lists fonts that make a line as high as in Word. Office writes the "o" of the second level in Courier New,
 * which has more below the baseline than Calibri.
 * @throws Error if the text is not well-formed.
 */
export function labelEdits(numbering: string): Edit[] {
  const edits: Edit[] = [];
  readMarkup(numbering, {
    open(tag, path) {
      if (tag.name !== 'w:rFonts' || path.at(-1) !== 'w:rPr' || path.at(-2) !== 'w:lvl') return;
      const fonts = Object.entries(tag.attributes).map(([name, font]) => [
        name,
        FONT_ATTRIBUTES.includes(name) ? (LABEL_FONTS.get(font) ?? font) : font,
      ]);
      const attributes = Object.fromEntries(fonts);
      if (FONT_ATTRIBUTES.some((name) => attributes[name] !== tag.attributes[name]))
        edits.push(withAttributes(tag, attributes));
    },
  });
  return edits;
}
