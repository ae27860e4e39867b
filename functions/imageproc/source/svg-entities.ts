import { ConversionError } from '../../shared/errors.ts';
import { megabytes } from '../../shared/too-large.ts';

/** Maximum bytes of an SVG after its entities are expanded. */
const MAX_BYTES = 20_000_000;

const DOCTYPE = /<!DOCTYPE\s+(?:\w+:)?svg\b[^[>]*\[/i;
/** Matches the declarations that drawing programs write. Their entities stand for names and styles. */
const DECLARATION =
  /\s+|<!--[\s\S]*?-->|<!(?:ATTLIST|ELEMENT)\b[^>]*>|<!ENTITY\s+([\w:.-]+)\s+(?:"([^"&%<]*)"|'([^'&%<]*)')\s*>/y;

/**
 * Replaces the entities that an SVG declares, as drawing programs do, with their text, and removes the declarations.
 * Entities that contain others can expand to gigabytes, and entities that refer to files are not allowed.
 * @throws ConversionError `UNSUPPORTED_SOURCE` for any other declaration.
 */
export function expandEntities(svg: Buffer): Buffer {
  const head = DOCTYPE.exec(svg.toString('latin1', 0, 65_536));
  if (!head) return svg;
  // One character per byte, because the markup is ASCII in all accepted encodings.
  const text = svg.toString('latin1');
  const entities = new Map<string, string>();
  const start = head.index + head[0].length;
  DECLARATION.lastIndex = start;
  let end = start;
  for (let found = DECLARATION.exec(text); found; found = DECLARATION.exec(text)) {
    const [, name, double, single] = found;
    // The first declaration of a name counts.
    if (name !== undefined && !entities.has(name)) entities.set(name, double ?? single ?? '');
    end = DECLARATION.lastIndex;
  }
  const close = /\]\s*>/y;
  close.lastIndex = end;
  if (!close.test(text)) {
    throw unsupported('declares nested or external entities');
  }
  const drawing = text.slice(close.lastIndex);
  let bytes = drawing.length;
  const expanded = drawing.replace(/&([\w:.-]+);/g, (whole, name: string) => {
    const value = entities.get(name) ?? whole;
    bytes += value.length - whole.length;
    if (bytes > MAX_BYTES) throw unsupported(`expands to more than ${megabytes(MAX_BYTES)}`);
    return value;
  });
  return Buffer.from(text.slice(0, head.index) + expanded, 'latin1');
}

function unsupported(what: string): ConversionError {
  return new ConversionError('UNSUPPORTED_SOURCE', `The source is an SVG that ${what}.`);
}
