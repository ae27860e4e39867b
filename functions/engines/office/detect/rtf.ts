import { ConversionError } from '../../../shared/errors.ts';

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
