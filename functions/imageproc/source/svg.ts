import { gunzipSync } from 'node:zlib';
import { ConversionError, megabytes } from '../../shared/errors.ts';
import type { Size } from '../../shared/options/geometry.ts';
import { damaged } from './detect.ts';

/** Maximum bytes of a source after decompression, and of an SVG after its entities are expanded. */
const MAX_BYTES = 20_000_000;

/**
 * Decompresses a gzip-compressed source, such as an `.svgz`. Returns others unchanged.
 * @throws ConversionError `SOURCE_TOO_LARGE`, `CORRUPT_SOURCE`
 */
export function gunzipSource(bytes: Buffer): Buffer {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_BYTES });
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') return damaged(thrown);
    const message = `The decompressed source exceeds the limit of ${megabytes(MAX_BYTES)}.`;
    throw new ConversionError('SOURCE_TOO_LARGE', message);
  }
}

const XML_ENCODING = /^<\?xml[^>]*?encoding\s*=\s*["']([\w-]+)/;
const OWN_ENCODINGS = /^(utf-?8|us-ascii|iso-8859-1|latin1)$/i;

/** Decodes XML in other encodings than those that librsvg reads, such as UTF-16, to UTF-8. Returns others unchanged. */
export function decodeXml(bytes: Buffer): Buffer {
  const head = bytes.toString('latin1', 0, 200);
  const wide = /^(\xfe\xff|\0<)/.test(head)
    ? 'utf-16be'
    : /^(\xff\xfe|<\0)/.test(head)
      ? 'utf-16le'
      : undefined;
  const encoding = wide ?? XML_ENCODING.exec(head)?.[1];
  if (encoding === undefined || OWN_ENCODINGS.test(encoding)) return bytes;
  try {
    const text = new TextDecoder(encoding).decode(bytes);
    return Buffer.from(text.replace(/^(<\?xml[^>]*?encoding\s*=\s*["'])[\w-]+/, '$1utf-8'));
  } catch {
    return bytes;
  }
}

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
    throw unsupportedError('declares nested or external entities');
  }
  const drawing = text.slice(close.lastIndex);
  let bytes = drawing.length;
  const expanded = drawing.replace(/&([\w:.-]+);/g, (whole, name: string) => {
    const value = entities.get(name) ?? whole;
    bytes += value.length - whole.length;
    if (bytes > MAX_BYTES) throw unsupportedError(`expands to more than ${megabytes(MAX_BYTES)}`);
    return value;
  });
  return Buffer.from(text.slice(0, head.index) + expanded, 'latin1');
}

function unsupportedError(what: string): ConversionError {
  return new ConversionError('UNSUPPORTED_SOURCE', `The source is an SVG that ${what}.`);
}

/** CSS pixels per unit of length. */
const UNITS = { in: 96, cm: 96 / 2.54, mm: 96 / 25.4, pt: 96 / 72, pc: 16 } as const;

/** A tag or a style sheet. Text between tags is not changed. */
const MARKUP = /<style\b[\s\S]*?(?:<\/style>|(?=<style\b)|$)|<[^<>]*>/gi;
const LENGTH = /(?<=[=:,\s"'])([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?)(in|cm|mm|pt|pc)(?=[\s"',;}!])/gi;

/**
 * Converts the physical lengths of an SVG to pixels, at 96 per inch as in CSS. libvips assumes that its own
 * resolution is that of the units, and would scale by it again.
 */
export function lengthsInPixels(svg: Buffer): Buffer {
  // One character per byte, because the markup is ASCII in all accepted encodings.
  const text = svg.toString('latin1');
  if (text.search(LENGTH) < 0) return svg;
  const changed = text.replace(MARKUP, (markup) =>
    markup.replace(LENGTH, (_, value: string, unit: string) => {
      const pixels = Number(value) * UNITS[unit.toLowerCase() as keyof typeof UNITS];
      return String(Number(pixels.toFixed(6)));
    }),
  );
  return Buffer.from(changed, 'latin1');
}

/** Maximum number of pixels that all filters together may write: 300 soft shadows on an image of 16 megapixels. */
const MAX_FILTERED = 5_000_000_000;

/**
 * Estimates the cost of an SVG's filters from its text. Each primitive of a filter processes the whole image and keeps
 * its own copy of it.
 * @throws ConversionError `SOURCE_TOO_LARGE`
 */
export function checkFilters(svg: Buffer, { width, height }: Size): void {
  const text = svg.toString('latin1');
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
  const primitives = count(/<(\w+:)?fe[A-Z]/g);
  const filters = count(/<(\w+:)?filter[\s>]/g);
  const uses = count(/\bfilter\s*[:=]/g);
  if (((primitives * uses) / Math.max(filters, 1)) * width * height <= MAX_FILTERED) return;
  const message = `The SVG applies too many filters for its size, ${width}x${height} pixels.`;
  throw new ConversionError('SOURCE_TOO_LARGE', message);
}

/** Features of SVG that librsvg does not draw, with their names in messages. */
const FEATURES: ReadonlyArray<readonly [name: string, pattern: RegExp]> = [
  ['var()', /\bvar\(\s*--/],
  ['color-mix()', /\bcolor-mix\(/],
  ['colors such as oklch()', /[:"'\s](?:ok)?l(?:ch|ab)\(/],
  ['foreignObject', /<(?:\w+:)?foreignObject\b/],
  ['textPath', /<(?:\w+:)?textPath\b/],
  ['textLength', /\stextLength\s*=/],
  ['transform-origin', /[\s;"'{]transform-(?:origin|box)\s*[:=]/],
  [
    'clip-path with a shape',
    /\bclip-path\s*[:=]\s*(?:["']\s*)?(?:circle|ellipse|inset|polygon|path|rect|xywh)\(/,
  ],
  ['@media', /@media\b/],
  ['systemLanguage', /\ssystemLanguage\s*=/],
  ['pictures in other formats', /(?:href|src)\s*=\s*["']data:image\/(?!png|jpe?g|svg)/],
  ['a background', /<(?:\w+:)?svg\b[^<>]*[\s;"']background(?:-image)?\s*:/],
];

/** Returns a warning if an SVG has features that are not drawn. */
export function unsupportedSvg(svg: Buffer): string | undefined {
  // Attributes may also be in comments, which costs no more than a needless warning.
  const text = svg.toString('latin1');
  const found = FEATURES.filter(([, pattern]) => pattern.test(text)).map(([name]) => name);
  if (found.length === 0) return undefined;
  return `This SVG uses ${found.join(', ')}, which imageproc may not draw as browsers do. html2image does.`;
}
