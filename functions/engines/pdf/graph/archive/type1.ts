/** The parts of a Type 1 font program that tell whether a PDF describes its glyphs rightly. */
export interface Type1 {
  /** Advances of the glyphs in thousandths of the font size, by name without its slash. */
  readonly widths: ReadonlyMap<string, number>;
  /** Names of glyphs by code, as far as the program itself assigns them. */
  readonly encoding: ReadonlyMap<number, string>;
}

/** Keys of the encryption of a program and of its glyphs (Adobe Type 1 Font Format, chapter 7). */
const [PROGRAM_KEY, GLYPH_KEY] = [55_665, 4330];

/** Reads a font program. `clear` is the number of bytes that are not encrypted. @throws RangeError if it is damaged */
export function readType1(bytes: Buffer, clear: number): Type1 {
  const head = bytes.toString('latin1', 0, clear);
  const matrix = /\/FontMatrix\s*\[\s*([\d.eE-]+)/.exec(head)?.[1];
  if (Number(matrix) !== 0.001) throw new RangeError('The font has an unusual matrix.');
  const encoding = new Map<number, string>();
  for (const [, code, name] of head.matchAll(/dup\s+(\d{1,3})\s*\/([^\s/{}[\]()<>%]+)\s+put/g))
    encoding.set(Number(code), name!);
  const body = decrypt(bytes.subarray(clear), PROGRAM_KEY, 4);
  const text = body.toString('latin1');
  const skipped = Number(/\/lenIV\s+(\d{1,2})/.exec(text)?.[1] ?? 4);
  const widths = new Map<string, number>();
  const glyph = /\/([^\s/{}[\]()<>%]+)\s+(\d{1,5})\s+(?:RD|-\|)\s/g;
  glyph.lastIndex = text.indexOf('/CharStrings');
  if (glyph.lastIndex < 0) throw new RangeError('The font has no glyphs.');
  for (let found = glyph.exec(text); found; found = glyph.exec(text)) {
    const end = glyph.lastIndex + Number(found[2]);
    widths.set(found[1]!, widthIn(decrypt(body.subarray(glyph.lastIndex, end), GLYPH_KEY, skipped)));
    glyph.lastIndex = end;
  }
  return { widths, encoding };
}

function decrypt(bytes: Buffer, key: number, skipped: number): Buffer {
  const plain = Buffer.alloc(bytes.length);
  let state = key;
  for (const [index, byte] of bytes.entries()) {
    plain[index] = byte ^ (state >> 8);
    state = ((byte + state) * 52_845 + 22_719) & 0xffff;
  }
  return plain.subarray(skipped);
}

/** Returns the width that a glyph sets with its first operator, `hsbw` or `sbw`. */
function widthIn(glyph: Buffer): number {
  const stack: number[] = [];
  for (let at = 0; ; ) {
    const byte = glyph.readUInt8(at);
    if (byte >= 32) {
      const [value, bytes] = numberAt(glyph, at);
      stack.push(value);
      at += bytes;
      continue;
    }
    if (byte === 13) return stack[1] ?? Number.NaN;
    const second = byte === 12 ? glyph.readUInt8(at + 1) : -1;
    if (second === 7) return stack[2] ?? Number.NaN;
    // Only a division may come before the width.
    if (second !== 12) throw new RangeError('A glyph has no width.');
    const divisor = stack.pop() ?? Number.NaN;
    stack.push((stack.pop() ?? Number.NaN) / divisor);
    at += 2;
  }
}

function numberAt(glyph: Buffer, at: number): [value: number, bytes: number] {
  const byte = glyph.readUInt8(at);
  if (byte <= 246) return [byte - 139, 1];
  if (byte <= 250) return [(byte - 247) * 256 + glyph.readUInt8(at + 1) + 108, 2];
  if (byte <= 254) return [-(byte - 251) * 256 - glyph.readUInt8(at + 1) - 108, 2];
  return [glyph.readInt32BE(at + 1), 5];
}
