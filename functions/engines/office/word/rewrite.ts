import { hasDates, readParts, withParts } from '../detect/archive.ts';
import { applyEdits, type Edit, isOn, readMarkup, readNumber } from '../markup.ts';
import { writeEquations } from './equations.ts';
import { fieldEdits, fieldRunEdits, labelEdits } from './fields.ts';
import { replaceLineGrid } from './line-grid.ts';
import { pageFieldEdits } from './page-fields.ts';
import { countPages, pageMarkEdits, readPageCount } from './page-marks.ts';
import { propertyEdits, readSections } from './paragraphs.ts';
import { replacePositionTabs } from './position-tabs.ts';
import { keepRowsTogether, tableWidthEdits } from './rows.ts';
import {
  autoSpacingStyleEdits,
  emptyItemEdits,
  lengthenPunctuatedLines,
  type PunctuationSettings,
  setAutoSpacing,
} from './spacing.ts';
import { readStyles, type Styles } from './styles.ts';
import { turnBoxes } from './turned-boxes.ts';

// Some editors number all parts, such as `word/document2.xml`.
const TEXT = /^word\/(document|header|footer|footnotes|endnotes)\d*\.xml$/;
const BODY = /^word\/document\d*\.xml$/;
const MARGIN = /^word\/(header|footer)/;
const STYLES = /^word\/styles\d*\.xml$/;
const NUMBERING = /^word\/numbering\d*\.xml$/;
const SETTINGS = /^word\/settings\d*\.xml$/;
const THEME = /^word\/theme\/theme\d*\.xml$/;
const PROPERTIES = /^docProps\/app\.xml$/;
const PARTS = [TEXT, STYLES, NUMBERING, SETTINGS, THEME, PROPERTIES];
/** Version of Word whose layout a document has that names none. */
const OLD_VERSION = 12;

export interface LaidOut {
  /** The changed document; `undefined` if nothing needs to change. */
  readonly bytes: Buffer | undefined;
  /** Number of pages in Word, or 0 if it only marked where they begin; `undefined` if neither is known. */
  readonly pages: number | undefined;
  /** Whether the macro has to compute fields for each page. */
  readonly hasPageFields: boolean;
}

/**
 * Changes a Word document so that LibreOffice lays out the text as Word does. The result is only for PDF, because it is no
 * longer what its author wrote.
 * @throws Error if a part is not well-formed or too long.
 */
export async function layOutAsWord(bytes: Buffer): Promise<LaidOut> {
  const parts = await readParts(bytes, (name) => PARTS.some((pattern) => pattern.test(name)));
  const textOf = (pattern: RegExp) => [...parts].find(([name]) => pattern.test(name))?.[1] ?? '';
  const settings = readSettings(textOf(SETTINGS));
  const styles = readStyles(textOf(STYLES) || '<w:styles/>', textOf(THEME), settings.language);
  // Word writes no dates. Other programs that change a document do, and leave Word's records of its pages as they were.
  const recorded = (await hasDates(bytes)) ? undefined : readPageCount(textOf(PROPERTIES));
  const hasNumberFormat = /<w:pgNumType\b[^<>]*\bw:fmt="(?!decimal")/.test(textOf(BODY));
  const hasOneSection = (textOf(BODY).match(/<w:sectPr\b/g)?.length ?? 0) <= 1;
  const changed = new Map<string, string>();
  let marks = 0;
  let hasPageFields = false;
  for (const [name, original] of parts) {
    const isText = TEXT.test(name);
    const divided = isText ? applyEdits(original, fieldRunEdits(original)) : original;
    const shaped = isText
      ? writeEquations(turnBoxes(replacePositionTabs(divided, textOf(BODY), textOf(STYLES))))
      : divided;
    const counted = isText && hasOneSection ? countSectionAsDocument(shaped) : shaped;
    const text = isText && hasNumberFormat ? countInDigits(counted) : counted;
    // Word computes the fields in headers and footers anew for each page.
    const hasSavedFields = isText && !MARGIN.test(name) && !settings.updatesFields;
    const pageFields = MARGIN.test(name) ? pageFieldEdits(text) : [];
    hasPageFields ||= pageFields.length > 0;
    const edits = [
      ...(NUMBERING.test(name) ? labelEdits(text) : []),
      ...(STYLES.test(name) ? autoSpacingStyleEdits(text) : []),
      ...(isText ? [...layoutEdits(text, styles, settings), ...tableWidthEdits(text)] : []),
      ...(hasSavedFields ? fieldEdits(text) : []),
      ...pageFields,
    ];
    const edited = applyEdits(text, edits);
    // They divide runs, whose properties must be the edited ones.
    const markEdits = recorded !== undefined && BODY.test(name) ? pageMarkEdits(edited) : [];
    marks += markEdits.length;
    const result = applyEdits(edited, markEdits);
    if (result !== original) changed.set(name, result);
  }
  return {
    bytes: changed.size > 0 ? await withParts(bytes, changed) : undefined,
    hasPageFields,
    pages: recorded === undefined ? undefined : countPages(recorded, marks),
  };
}

/** Replaces the number of pages of a section, which LibreOffice does not count, with that of a document that has only one section. */
function countSectionAsDocument(part: string): string {
  return part
    .replace(/(<w:instrText\b[^<>]*>\s*)SECTIONPAGES\b/gi, '$1NUMPAGES')
    .replace(/(<w:fldSimple\b[^<>]*\bw:instr="\s*)SECTIONPAGES\b/gi, '$1NUMPAGES');
}

/** Writes the number of pages in digits. LibreOffice writes it in the format of the section's page numbers. */
function countInDigits(part: string): string {
  const pages =
    /((?:<w:instrText\b[^<>]*>|<w:fldSimple\b[^<>]*\bw:instr=")\s*NUMPAGES)\b(?!\s*\\\*\s*(?!\s|mergeformat|charformat))/gi;
  return part.replace(pages, '$1 \\* Arabic');
}

/** Returns the edits that break lines and pages, and make lines as high, as in Word. */
function layoutEdits(part: string, styles: Styles, settings: Settings): Edit[] {
  return readSections(part, styles).flatMap((section) => {
    const edits = [
      ...replaceLineGrid(section, settings.snapsInTables),
      ...keepRowsTogether(section),
      ...emptyItemEdits(section),
    ];
    lengthenPunctuatedLines(section, settings);
    setAutoSpacing(section);
    return [...edits, ...section.paragraphs.flatMap(propertyEdits)];
  });
}

interface Settings extends PunctuationSettings {
  /** Language of East Asian text, such as `ja-JP`. */
  readonly language: string;
  /** Whether text in tables is on the line grid. */
  readonly snapsInTables: boolean;
  /** Whether Word computes all fields when it opens the document. */
  readonly updatesFields: boolean;
}

function readSettings(settings: string): Settings {
  const read = {
    language: '',
    snapsInTables: false,
    updatesFields: false,
    isCompressed: false,
    version: OLD_VERSION,
  };
  if (settings === '') return read;
  readMarkup(settings, {
    open({ name, attributes }) {
      const value = attributes['w:val'];
      if (name === 'w:themeFontLang') read.language = attributes['w:eastAsia'] ?? '';
      if (name === 'w:adjustLineHeightInTable') read.snapsInTables = isOn(value);
      if (name === 'w:updateFields') read.updatesFields = isOn(value);
      if (name === 'w:characterSpacingControl') read.isCompressed = /^compress/.test(value ?? '');
      if (name === 'w:compatSetting' && attributes['w:name'] === 'compatibilityMode')
        read.version = readNumber(value) ?? OLD_VERSION;
    },
  });
  return read;
}

/** Elements that LibreOffice may take minutes for: the positions of floating tables, and 3D effects. */
const SLOW = /<w:tbl(?:pPr|Overlap)\b[^<>]*\/>|<a:(scene3d|sp3d)\b(?:[^<>]*\/>|.*?<\/a:\1>)/gs;

/** Moves the floating tables of a Word document into its text and removes 3D effects. Returns `undefined` if it has none. */
export async function withoutSlowParts(bytes: Buffer): Promise<Buffer | undefined> {
  const changed = new Map<string, string>();
  for (const [name, text] of await readParts(bytes, (part) => TEXT.test(part))) {
    const simple = text.replace(SLOW, '');
    if (simple.length < text.length) changed.set(name, simple);
  }
  return changed.size > 0 ? withParts(bytes, changed) : undefined;
}
