import type { Edit } from './markup.ts';

const MARGINS = /<((?:odd|even|first)(?:Header|Footer))\b[^<>]*>([^<>]*)<\/\1>/g;
const ESCAPES = /_x([\da-f]{4})_/gi;
const XML_ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/**
 * Replaces characters that are written as `_xHHHH_` in the headers and footers of a sheet. LibreOffice prints the escape itself there,
 * and decodes it only in cells.
 */
export function sheetMarginEdits(sheet: string): Edit[] {
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
