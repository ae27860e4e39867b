import { readParts, withParts } from '../detect/archive.ts';
import { lineGridEdits } from './line-grid.ts';
import { applyEdits } from './markup.ts';
import { readStyles } from './styles.ts';

const DOCUMENT = 'word/document.xml';
const STYLES = 'word/styles.xml';
const SETTINGS = 'word/settings.xml';
const THEME = /^word\/theme\/theme\d*\.xml$/;
/** Parts that may contain tables. */
const TEXT = /^word\/(document|header|footer|footnotes|endnotes)\d*\.xml$/;

/**
 * Returns a Word document in which LibreOffice lays out the text as Word does. The result is only for PDF, because it is no
 * longer what its author wrote. Returns `undefined` if nothing needs to change.
 * @throws Error if a part is not well-formed or too long.
 */
export async function withWordLayout(bytes: Buffer): Promise<Buffer | undefined> {
  const document = (await readParts(bytes, (name) => name === DOCUMENT)).get(DOCUMENT);
  if (!document || !/<w:docGrid\b[^<>]*\bw:type="lines"/.test(document)) return undefined;
  const others = await readParts(bytes, (name) => name === STYLES || name === SETTINGS || THEME.test(name));
  const theme = [...others].find(([name]) => THEME.test(name))?.[1] ?? '';
  const styles = readStyles(others.get(STYLES) ?? '<w:styles/>', theme);
  const edits = lineGridEdits(document, styles, others.get(SETTINGS) ?? '');
  return withParts(bytes, new Map([[DOCUMENT, applyEdits(document, edits)]]));
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
