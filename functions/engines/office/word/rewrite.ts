import { readParts, withParts } from '../detect/archive.ts';
import { contentsEdits } from './contents.ts';
import { labelEdits } from './labels.ts';
import { replaceLineGrid } from './line-grid.ts';
import { applyEdits, type Edit, isOn, readMarkup, readNumber } from './markup.ts';
import { propertyEdits, readSections } from './paragraphs.ts';
import { lengthenPunctuatedLines, type PunctuationSettings } from './punctuation.ts';
import { readStyles } from './styles.ts';
import { tableWidthEdits } from './table-widths.ts';

// Some editors number all parts, such as `word/document2.xml`.
const DOCUMENT = /^word\/document\d*\.xml$/;
const STYLES = /^word\/styles\d*\.xml$/;
const NUMBERING = /^word\/numbering\d*\.xml$/;
const SETTINGS = /^word\/settings\d*\.xml$/;
const THEME = /^word\/theme\/theme\d*\.xml$/;
/** Version of Word whose layout a document has that names none. */
const OLD_VERSION = 12;
/** Parts that may contain tables. */
const TEXT = /^word\/(document|header|footer|footnotes|endnotes)\d*\.xml$/;

/**
 * Returns a Word document in which LibreOffice lays out the text as Word does. The result is only for PDF, because it is no
 * longer what its author wrote. Returns `undefined` if nothing needs to change.
 * @throws Error if a part is not well-formed or too long.
 */
export async function withWordLayout(bytes: Buffer): Promise<Buffer | undefined> {
  const changed = new Map<string, string>();
  const change = (name: string, text: string, edits: readonly Edit[]) => {
    if (edits.length > 0) changed.set(name, applyEdits(text, edits));
  };
  const [documentName, document] = await readFirst(bytes, DOCUMENT);
  const edits = await lineEdits(bytes, document);
  if (document.includes('<w:docPartObj>')) edits.push(...contentsEdits(document));
  if (document.includes('<w:tblW ')) edits.push(...tableWidthEdits(document));
  change(documentName, document, edits);
  const [numberingName, numbering] = await readFirst(bytes, NUMBERING);
  if (numbering !== '') change(numberingName, numbering, labelEdits(numbering));
  return changed.size > 0 ? withParts(bytes, changed) : undefined;
}

/** Returns the edits that break lines, and make them as high, as in Word. Only text on a line grid and ideographs differ. */
async function lineEdits(bytes: Buffer, document: string): Promise<Edit[]> {
  const [, text] = await readFirst(bytes, SETTINGS);
  const settings = readSettings(text);
  const isOnGrid = /<w:docGrid\b[^<>]*\bw:type\s*=\s*["']lines["']/.test(document);
  if (!isOnGrid && !settings.isCompressed) return [];
  const [[, styles], [, theme]] = [await readFirst(bytes, STYLES), await readFirst(bytes, THEME)];
  const sections = readSections(document, readStyles(styles || '<w:styles/>', theme, settings.language));
  return sections.flatMap((section) => {
    const edits = replaceLineGrid(section, settings.snapsInTables);
    lengthenPunctuatedLines(section, settings);
    return [...edits, ...section.paragraphs.flatMap(propertyEdits)];
  });
}

/** Reads the first part with a matching name. Its text is empty if there is none. */
async function readFirst(bytes: Buffer, pattern: RegExp): Promise<readonly [name: string, text: string]> {
  let isFound = false;
  const [found] = await readParts(bytes, (name) => {
    const isFirst = !isFound && pattern.test(name);
    isFound ||= isFirst;
    return isFirst;
  });
  return found ?? ['', ''];
}

interface Settings extends PunctuationSettings {
  /** Language of East Asian text, such as `ja-JP`. */
  readonly language: string;
  /** Whether text in tables is on the line grid. */
  readonly snapsInTables: boolean;
}

function readSettings(settings: string): Settings {
  const read = { language: '', snapsInTables: false, isCompressed: false, version: OLD_VERSION };
  if (settings === '') return read;
  readMarkup(settings, {
    open({ name, attributes }) {
      const value = attributes['w:val'];
      if (name === 'w:themeFontLang') read.language = attributes['w:eastAsia'] ?? '';
      if (name === 'w:adjustLineHeightInTable') read.snapsInTables = isOn(value);
      if (name === 'w:characterSpacingControl') read.isCompressed = /^compress/.test(value ?? '');
      if (name === 'w:compatSetting' && attributes['w:name'] === 'compatibilityMode')
        read.version = readNumber(value) ?? OLD_VERSION;
    },
  });
  return read;
}

/** Moves the floating tables of a Word document into its text. Returns `undefined` if it has none. */
export async function withoutFloatingTables(bytes: Buffer): Promise<Buffer | undefined> {
  const changed = new Map<string, string>();
  for (const [name, text] of await readParts(bytes, (part) => TEXT.test(part))) {
    const inline = text.replace(/<w:tbl(pPr|Overlap)\b[^<>]*\/>/g, '');
    if (inline.length < text.length) changed.set(name, inline);
  }
  return changed.size > 0 ? withParts(bytes, changed) : undefined;
}
