import lcid from 'lcid';
import type { Input } from '../inputs.ts';
import { readParts } from './archive.ts';

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
