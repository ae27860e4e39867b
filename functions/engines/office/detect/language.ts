import type { Input } from '../inputs.ts';
import { readParts } from './archive.ts';

/** Maximum characters of an element that are searched. */
const MAX_SEARCHED = 100_000;

/** Windows language identifiers by their primary language, for RTF. Sublanguages are in `REGIONS`. */
const LANGUAGES: Readonly<Record<number, string>> = {
  1: 'ar',
  2: 'bg',
  3: 'ca',
  4: 'zh',
  5: 'cs',
  6: 'da',
  7: 'de',
  8: 'el',
  9: 'en',
  10: 'es',
  11: 'fi',
  12: 'fr',
  13: 'he',
  14: 'hu',
  16: 'it',
  17: 'ja',
  18: 'ko',
  19: 'nl',
  20: 'nb',
  21: 'pl',
  22: 'pt',
  24: 'ro',
  25: 'ru',
  26: 'hr',
  27: 'sk',
  29: 'sv',
  30: 'th',
  31: 'tr',
  33: 'id',
  34: 'uk',
  36: 'sl',
  37: 'et',
  38: 'lv',
  39: 'lt',
  41: 'fa',
  42: 'vi',
};
const REGIONS: Readonly<Record<number, string>> = {
  2055: 'de-CH',
  3079: 'de-AT',
  2057: 'en-GB',
  3081: 'en-AU',
  4105: 'en-CA',
  2058: 'es-MX',
  2060: 'fr-BE',
  3084: 'fr-CA',
  4108: 'fr-CH',
  2064: 'it-CH',
  2067: 'nl-BE',
  1046: 'pt-BR',
  2070: 'pt-PT',
  2052: 'zh-CN',
  1028: 'zh-TW',
  3076: 'zh-HK',
};

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
  if (kind === 'rtf') return tagOfNumber(Number(/\\deflang(\d+)/.exec(text)?.[1]));
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

/** Returns the tag of a Windows language identifier. */
function tagOfNumber(identifier: number): string | undefined {
  return REGIONS[identifier] ?? LANGUAGES[identifier & 0x3ff];
}
