import { analyse } from 'chardet';

/** Encodings of East Asian scripts. Their byte patterns are distinctive, so a short text is enough to detect them. */
const MULTI_BYTE = /^(shift_jis|euc-jp|iso-2022-jp|euc-kr|big5|gb18030)$/i;
/** Encodings of Cyrillic, Greek, Hebrew and Arabic, where most letters are above ASCII. */
const OTHER_ALPHABETS = /^(windows-125[13567]|koi8-r|iso-8859-[5678])$/i;
/** Encodings that LibreOffice does not read. */
export const UTF_32: readonly string[] = ['utf-32le', 'utf-32be'];
/** Number of bytes that are examined. */
const SAMPLE = 65_536;

/**
 * Detects the encoding of text: byte order mark, zero bytes of UTF-32 and UTF-16, UTF-8, statistics; Windows-1252 if
 * nothing matches.
 */
export function detectEncoding(bytes: Buffer): string {
  const longest = UTF_32.find((encoding) => isUtf32(bytes, encoding));
  if (longest) return longest;
  const mark = bytes.subarray(0, 3).toString('hex');
  if (mark === 'efbbbf') return 'utf-8';
  if (mark.startsWith('fffe')) return 'utf-16le';
  if (mark.startsWith('feff')) return 'utf-16be';
  const sample = bytes.subarray(0, SAMPLE);
  const wide = wideEncoding(sample);
  if (wide) return wide;
  if (isUtf8(bytes)) return 'utf-8';
  const high = sample.filter((byte) => byte >= 0x80).length;
  const letters = sample.filter((byte) => byte >= 0x80 || /[a-z]/i.test(String.fromCharCode(byte))).length;
  const mostlyHigh = high > letters / 2;
  const [best] = analyse(sample);
  const name = best?.name ?? '';
  const isEastAsian = () => mostlyHigh || (best!.confidence >= 30 && isInRows(decodePart(sample, name)));
  if (MULTI_BYTE.test(name) && isEastAsian()) return name.toLowerCase();
  if (isShiftJis(sample)) return 'shift_jis';
  if (OTHER_ALPHABETS.test(name) && mostlyHigh) return name.toLowerCase();
  return latinEncoding(sample);
}

/** Decodes a sample, which may end within a character. */
function decodePart(sample: Buffer, encoding: string): string {
  return new TextDecoder(encoding).decode(sample, { stream: true });
}

/** Whether most characters beyond ASCII are East Asian ones in a row. In Latin text, letters with accents are single. */
function isInRows(text: string): boolean {
  const wide = text.match(/[^\p{ASCII}]/gu)?.length ?? 0;
  const inRows =
    text.match(/[\u3001-\u30ff\u3400-\u9fff\uac00-\ud7af\uff01-\uff5e]{2,}/g)?.join('').length ?? 0;
  return inRows > wide * 0.6;
}

/** Whether bytes are Japanese text, which may be too short for statistics: nearly all characters are frequent ones. */
function isShiftJis(sample: Buffer): boolean {
  const text = decodePart(sample, 'shift_jis');
  const wide = text.match(/[^\p{ASCII}]/gu)?.length ?? 0;
  // Kana, signs and the kanji of the first level.
  const frequent = sample.toString('latin1').match(/[\x81-\x84\x88-\x97][\x40-\xfc]/g)?.length ?? 0;
  return isInRows(text) && frequent > wide * 0.7;
}

/** Letters beyond ASCII of languages in Latin script, by the encoding of their texts. */
const ALPHABETS: ReadonlyArray<readonly [encoding: string, ...letters: string[]]> = [
  [
    'windows-1252',
    ...'äöüß àâæçèéêëîïôœùûü áéíñóúüçïàèòôâªº áàâãçéêíóôúªº àéèìíîòóùªº äåæéöø áæéðíóöúýþ áèéëíïóöü äõöü'.split(
      ' ',
    ),
  ],
  ['windows-1254', 'âçéğıîöôşûü'],
  ['windows-1250', ...'ąćęłńóśźż áčďéěíňóřšťúůýž áäčďéíĺľňóôŕšťúýž áéíóöőúüű âăîşţ čćđšž'.split(' ')],
  ['windows-1257', ...'ąčęėįšųūž āčēģīķļņšūž äõöüšž'.split(' ')],
];

/** Signs that no text has within a word or at its end, currencies before one, and letters that are rare in that place. */
const SIGNS =
  /(?<=\p{L}{4})[^\p{L}\p{ASCII}\p{P}]|(?<=\p{L})[^\p{L}\p{ASCII}\u2010-\u203a\xb7](?=\p{L})|(?<=\p{L})[\xaa\xba\xfe](?=\p{L})|\xaa(?=\p{L}{2})|[\xa3\xa5\xaf](?=\p{L})/gu;

/** Returns the encoding in which text has far fewer letters that are foreign to a language than in Windows-1252, or that one. */
function latinEncoding(sample: Buffer): string {
  const [western, ...others] = ALPHABETS.map(([encoding, ...alphabets]) => {
    // Portuguese has õ only before e, and Hungarian has ő in its place. İ in lower case has a separate dot.
    const text = decodePart(sample, encoding)
      .toLowerCase()
      .replace(/õe|\u0307/g, '');
    const letters = text.match(/[^\P{L}\p{ASCII}]/gu) ?? [];
    const signs = text.match(SIGNS) ?? [];
    const foreign = alphabets.map(
      (alphabet) => letters.filter((letter) => !alphabet.includes(letter)).length,
    );
    return { encoding, foreign: Math.min(...foreign) + signs.length };
  });
  const best = others.reduce((one, next) => (next.foreign < one.foreign ? next : one));
  return (best.foreign * 2 < western!.foreign ? best : western!).encoding;
}

/**
 * Decodes text as TextDecoder does, without its byte order mark, and also UTF-32, which TextDecoder does not support.
 */
export function decodeText(bytes: Buffer, encoding: string): string {
  if (UTF_32.includes(encoding)) return decodeUtf32(bytes, encoding);
  return new TextDecoder(encoding).decode(bytes);
}

/** Whether every four bytes are a code point, and most of these are below U+10000, which excludes UTF-16. */
function isUtf32(bytes: Buffer, encoding: string): boolean {
  if (bytes.length < 4 || bytes.length % 4 !== 0) return false;
  let basic = 0;
  for (let at = 0; at < bytes.length; at += 4) {
    const point = readPoint(bytes, at, encoding);
    if (point === 0 || point > 0x10ffff) return false;
    if (point < 0x10000) basic += 1;
  }
  return basic > bytes.length / 8;
}

function readPoint(bytes: Buffer, at: number, encoding: string): number {
  return encoding === 'utf-32be' ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at);
}

function decodeUtf32(bytes: Buffer, encoding: string): string {
  // No code point is longer in UTF-16.
  const wide = Buffer.alloc(bytes.length);
  let end = 0;
  for (let at = 0; at < bytes.length; at += 4) {
    end += wide.write(String.fromCodePoint(readPoint(bytes, at, encoding)), end, 'utf16le');
  }
  return new TextDecoder('utf-16le').decode(wide.subarray(0, end));
}

/** Detects UTF-16 without a byte order mark: in text of Latin letters, every other byte is zero. */
function wideEncoding(sample: Buffer): string | undefined {
  const pairs = Math.floor(sample.length / 2);
  let [even, odd] = [0, 0];
  for (let at = 0; at < pairs * 2; at += 2) {
    if (sample[at] === 0) even += 1;
    if (sample[at + 1] === 0) odd += 1;
  }
  if (odd > pairs * 0.4 && even < pairs * 0.05) return 'utf-16le';
  if (even > pairs * 0.4 && odd < pairs * 0.05) return 'utf-16be';
  return undefined;
}

function isUtf8(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Possible separators of the cells of a text table. */
export const SEPARATORS = [',', ';', '\t', '|'] as const;

/** Returns the separator that occurs most often in the first lines, outside quotes. */
export function findSeparator(text: string): string {
  const lines = text.slice(0, 4096).replace(/"[^"]*"/g, '');
  const counted = SEPARATORS.map((separator) => ({ separator, count: lines.split(separator).length }));
  return counted.reduce((best, next) => (next.count > best.count ? next : best)).separator;
}
