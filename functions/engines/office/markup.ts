import { SaxesParser } from 'saxes';

/** Attributes of an element, by their names with prefix. */
export type Attributes = Readonly<Record<string, string>>;

/** A tag, and where it is in the text that contains it. */
export interface Tag {
  readonly name: string;
  readonly attributes: Attributes;
  readonly start: number;
  readonly end: number;
  readonly isEmpty: boolean;
}

/** `path` has the names of the elements around a tag or text. The last one is its parent. `end` is where a closing tag ends. */
interface Handlers {
  open(tag: Tag, path: readonly string[]): void;
  close?(name: string, path: readonly string[], end: number): void;
  text?(text: string, path: readonly string[]): void;
}

/** Replaces a part of a text. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Maximum nesting depth of elements, which bounds memory. Documents have about 50 levels. */
const MAX_DEPTH = 1000;

/**
 * Reads a part of an Office Open XML document from its beginning to its end. Prefixes are those that Office writes,
 * such as `w:` for text.
 * @throws Error if the text is not well-formed, or is nested too deeply.
 */
export function readMarkup(xml: string, { open, close, text }: Handlers): void {
  const parser = new SaxesParser({ position: true, xmlns: false });
  const path: string[] = [];
  parser.on('opentag', ({ name, attributes, isSelfClosing }) => {
    const end = parser.position;
    // Attribute values contain no "<".
    const start = xml.lastIndexOf('<', end - 1);
    open({ name, attributes, start, end, isEmpty: isSelfClosing }, path);
    path.push(name);
    if (path.length > MAX_DEPTH) throw new Error('The document has too many levels.');
  });
  parser.on('closetag', ({ name }) => {
    path.pop();
    close?.(name, path, parser.position);
  });
  if (text) {
    parser.on('text', (piece) => text(piece, path));
    parser.on('cdata', (piece) => text(piece, path));
  }
  parser.write(xml).close();
}

export function applyEdits(xml: string, edits: readonly Edit[]): string {
  const pieces: string[] = [];
  let at = 0;
  for (const { start, end, text } of [...edits].sort((one, other) => one.start - other.start)) {
    pieces.push(xml.slice(at, start), text);
    at = end;
  }
  return [...pieces, xml.slice(at)].join('');
}

/** Writes an element without content. */
export function emptyElement(name: string, attributes: Attributes): string {
  return `<${name}${writeAttributes(attributes)}/>`;
}

/** Replaces the attributes of an element, which may end with another tag. */
export function withAttributes({ name, start, end, isEmpty }: Tag, attributes: Attributes): Edit {
  return { start, end, text: `<${name}${writeAttributes(attributes)}${isEmpty ? '/' : ''}>` };
}

function writeAttributes(attributes: Attributes): string {
  return Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${escapeValue(value)}"`)
    .join('');
}

function escapeValue(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** Reads a number of an attribute. Returns `undefined` if there is none. */
export function readNumber(value: string | undefined): number | undefined {
  const number = Number(value);
  return value === undefined || value === '' || !Number.isFinite(number) ? undefined : number;
}

/** Reads a switch, which is on if it has no value. */
export function isOn(value: string | undefined): boolean {
  return !['0', 'false', 'off'].includes(value ?? 'true');
}
