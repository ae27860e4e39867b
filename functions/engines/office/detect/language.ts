import lcid from 'lcid';
import { ConversionError } from '../../../shared/errors.ts';
import type { Input } from '../inputs.ts';
import { isArchive, readParts, withParts } from './archive.ts';

/** Maximum characters of an element that are searched. */
const MAX_SEARCHED = 100_000;

/** Elements that name the language of a document, and the patterns of the language in them. */
const ODF = { from: '<style:default-style ', pattern: /fo:language="([\w-]+)"(?:\s+fo:country="(\w+)")?/ };
const WORD = { from: '<w:docDefaults', pattern: /<w:lang\b[^>]*?\bw:val="([\w-]+)"/ };
const SLIDES = { from: '<p:', pattern: /<a:(?:def)?rPr\b[^>]{0,500}?\blang="([\w-]+)"/i };
const HTML = { from: '<', pattern: /<html\b[^>]{0,1000}?\blang\s*=\s*["']?([\w-]+)/i };

/**
 * Returns the language tag that a document declares for itself, or `undefined` if it leaves its language to the reader, as workbooks
 * of Excel do.
 */
export async function declaredLanguage(kind: Input, bytes: Buffer): Promise<string | undefined> {
  if (/^(o[dt][tspg]|sx[wcid])$/.test(kind)) return tagIn(await partOf(bytes, 'styles.xml'), ODF);
  if (/^do[ct][xm]$/.test(kind)) return tagIn(await partOf(bytes, 'word/styles.xml'), WORD);
  if (/^(ppt|pot|pps)[xm]$/.test(kind))
    return (
      tagIn(await partOf(bytes, 'ppt/slides/slide1.xml'), SLIDES) ??
      tagIn(await partOf(bytes, 'ppt/presentation.xml'), SLIDES)
    );
  const text = bytes.toString('latin1', 0, 20 * MAX_SEARCHED);
  if (/^fod[tspg]$/.test(kind)) return tagIn(text, ODF);
  if (kind === 'html' || kind === 'htm') return tagIn(text, HTML);
  if (kind === 'rtf') return lcid.from(Number(/\\deflang(\d+)/.exec(text)?.[1]))?.replace('_', '-');
  return undefined;
}

async function partOf(bytes: Buffer, name: string): Promise<string> {
  return (await readParts(bytes, (each) => each === name)).get(name) ?? '';
}

interface Declaration {
  readonly from: string;
  readonly pattern: RegExp;
}

function tagIn(text: string, { from, pattern }: Declaration): string | undefined {
  const start = text.indexOf(from);
  if (start < 0) return undefined;
  const tag = pattern
    .exec(text.slice(start, start + MAX_SEARCHED))
    ?.slice(1)
    .filter(Boolean)
    .join('-');
  // A document whose language is not known.
  return tag === undefined || /^(none|zxx|und|x-)/i.test(tag) ? undefined : tag;
}

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

const [BACKSLASH, OPEN, CLOSE] = [0x5c, 0x7b, 0x7d];
const MAX_DEPTH = 1000;

/**
 * Returns the closing braces that a truncated RTF file lacks. LibreOffice hangs on an unclosed field.
 * @throws ConversionError `CORRUPT_SOURCE` for groups that are nested more deeply than in any word processor's
 * output.
 */
export function missingEnds(bytes: Buffer): string {
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === BACKSLASH) at += binaryLength(bytes, at) ?? 1;
    if (byte === OPEN) depth += 1;
    if (byte === CLOSE) depth -= 1;
    if (byte === CLOSE && depth === 0) return '';
    if (depth > MAX_DEPTH) {
      throw new ConversionError(
        'CORRUPT_SOURCE',
        'The document is damaged: its groups are nested too deeply.',
      );
    }
  }
  return '}'.repeat(depth);
}

/**
 * Returns the number of bytes from a `\bin` to the end of its data, in which braces have no meaning, or `undefined`
 * for any other control word.
 */
function binaryLength(bytes: Buffer, at: number): number | undefined {
  if (bytes[at + 1] !== 0x62 || bytes[at + 2] !== 0x69) return undefined;
  const word = /^\\bin(\d{1,9}) ?/.exec(bytes.toString('latin1', at, at + 16));
  return word ? word[0].length - 1 + Number(word[1]) : undefined;
}
