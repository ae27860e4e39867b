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
  if (MULTI_BYTE.test(name) && (mostlyHigh || best!.confidence >= 30)) return name.toLowerCase();
  if (OTHER_ALPHABETS.test(name) && mostlyHigh) return name.toLowerCase();
  return 'windows-1252';
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
