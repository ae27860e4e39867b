import { readParts, withParts } from '../detect/archive.ts';
import { lineGridEdits } from './line-grid.ts';
import { applyEdits } from './markup.ts';
import { readStyles } from './styles.ts';

// Some editors number all parts, such as `word/document2.xml`.
const DOCUMENT = /^word\/document\d*\.xml$/;
const STYLES = /^word\/styles\d*\.xml$/;
const SETTINGS = /^word\/settings\d*\.xml$/;
const THEME = /^word\/theme\/theme\d*\.xml$/;
/** Parts that may contain tables. */
const TEXT = /^word\/(document|header|footer|footnotes|endnotes)\d*\.xml$/;

/**
 * Returns a Word document in which LibreOffice lays out the text as Word does. The result is only for PDF, because it is no
 * longer what its author wrote. Returns `undefined` if nothing needs to change.
 * @throws Error if a part is not well-formed or too long.
 */
export async function withWordLayout(bytes: Buffer): Promise<Buffer | undefined> {
  const [name, document = ''] = [...(await readParts(bytes, (part) => DOCUMENT.test(part)))][0] ?? [];
  if (!name || !/<w:docGrid\b[^<>]*\bw:type="lines"/.test(document)) return undefined;
  const parts = await readParts(bytes, (part) => [STYLES, SETTINGS, THEME].some((each) => each.test(part)));
  const textOf = (pattern: RegExp) => [...parts].find(([part]) => pattern.test(part))?.[1] ?? '';
  const styles = readStyles(textOf(STYLES) || '<w:styles/>', textOf(THEME));
  const edits = lineGridEdits(document, styles, textOf(SETTINGS));
  return withParts(bytes, new Map([[name, applyEdits(document, edits)]]));
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
