import { isArchive, readParts, withParts } from './archive.ts';

const PARTS = new Set(['content.xml', 'styles.xml']);
/** Makes LibreOffice replace the parts of a date by those of the reader's language. */
const OF_READER = /\s(?:number:automatic-order="true"|number:format-source="language")/g;
const STYLE = /<number:date-style\b[^>]*>/g;

/**
 * Returns an OpenDocument file whose dates have the order that their author saw, which is part of the file, or `undefined` if the file
 * has no dates in the order of the reader's language.
 */
export async function withOwnDates(bytes: Buffer): Promise<Buffer | undefined> {
  if (!isArchive(bytes)) {
    // Every byte is one character, so nothing else changes.
    const text = bytes.toString('latin1');
    const changed = keepOrder(text);
    return changed === text ? undefined : Buffer.from(changed, 'latin1');
  }
  const texts = [...(await readParts(bytes, (name) => PARTS.has(name)))]
    .map(([name, text]) => [name, text, keepOrder(text)] as const)
    .filter(([, text, changed]) => changed !== text);
  if (texts.length === 0) return undefined;
  return withParts(bytes, new Map(texts.map(([name, , changed]) => [name, changed])));
}

function keepOrder(text: string): string {
  if (!text.includes('number:format-source="language"')) return text;
  return text.replace(STYLE, (style) =>
    style.includes('number:format-source="language"') ? style.replace(OF_READER, '') : style,
  );
}
