import { STANDARD_ENCODING, STANDARD_STRINGS } from '../archive/standard-strings.ts';
import type { Type1 } from '../archive/type1.ts';

/** The parts of a compact font program (CFF) that tell whether a PDF describes its glyphs rightly. */
export interface Compact extends Type1 {
  /** Returns the glyph of a CID, or `undefined` if there is none. */
  glyphOf(cid: number): number | undefined;
  /** Returns a glyph's advance in thousandths of the font size. */
  widthOf(glyph: number): number;
  /** The CIDs of all glyphs. */
  readonly cids: readonly number[];
}

/** Operators of dictionaries (Adobe Technical Note 5176). Those of two bytes begin with 12. */
const [CHARSET, ENCODING, CHAR_STRINGS, PRIVATE, SUBROUTINES, DEFAULT_WIDTH, NOMINAL_WIDTH] = [
  15, 16, 17, 18, 19, 20, 21,
];
const [FONT_MATRIX, ROS, FD_ARRAY, FD_SELECT] = [0x0c07, 0x0c1e, 0x0c24, 0x0c25];
/** Maximum depth of subroutines (Adobe Technical Note 5177, appendix B). */
const MAX_CALLS = 10;
/** Operators that begin a path or end a glyph, with the numbers of operands that they have besides a width. */
const MOVES: Readonly<Record<number, readonly number[]>> = { 4: [1], 14: [0, 4], 21: [2], 22: [1] };
/** Operators of hints, which have pairs of operands. */
const HINTS = [1, 3, 18, 19, 20, 23];

type Dictionary = ReadonlyMap<number, readonly number[]>;

/** Widths and subroutines that some glyphs have in common. */
interface Private {
  readonly usual: number;
  readonly nominal: number;
  readonly subroutines: readonly Buffer[];
  readonly scale: number;
}

/** Reads a font program, which may be part of an OpenType font. @throws RangeError if it is damaged */
export function readCompact(file: Buffer): Compact {
  const bytes = file.toString('latin1', 0, 4) === 'OTTO' ? tableOf(file) : file;
  const names = readIndex(bytes, bytes.readUInt8(2));
  const tops = readIndex(bytes, names.end);
  const strings = readIndex(bytes, tops.end);
  const shared = readIndex(bytes, strings.end).items;
  const top = readDictionary(tops.items[0] ?? Buffer.alloc(0));
  const glyphs = readIndex(bytes, offsetIn(top, CHAR_STRINGS)).items;
  const isCid = top.has(ROS);
  const privates = isCid
    ? readIndex(bytes, offsetIn(top, FD_ARRAY)).items.map((each) => {
        const own = readDictionary(each);
        return privateOf(bytes, own, scaleOf(top, own));
      })
    : [privateOf(bytes, top, scaleOf(top))];
  const select = isCid ? selection(bytes, offsetIn(top, FD_SELECT)) : () => 0;
  const widthOf = (glyph: number) => {
    const [program, own] = [glyphs[glyph], privates[select(glyph)]];
    if (!program || !own) throw new RangeError('A glyph is missing.');
    return (widthIn(program, own, shared, [], 0) ?? own.usual) * own.scale;
  };
  const ids = charsetOf(bytes, top.get(CHARSET)?.[0] ?? 0, glyphs.length);
  if (isCid) {
    const byCid = new Map(ids.map((cid, glyph) => [cid, glyph]));
    return { cids: ids, glyphOf: (cid) => byCid.get(cid), widthOf, widths: new Map(), encoding: new Map() };
  }
  const named = ids.map(
    (id) => STANDARD_STRINGS[id] ?? strings.items[id - STANDARD_STRINGS.length]?.toString('latin1') ?? '',
  );
  return {
    cids: [...glyphs.keys()],
    glyphOf: (cid) => (cid < glyphs.length ? cid : undefined),
    widthOf,
    widths: new Map(named.map((name, glyph) => [name, widthOf(glyph)])),
    encoding: encodingOf(bytes, top.get(ENCODING)?.[0] ?? 0, named),
  };
}

/** Returns the font program of an OpenType font. */
function tableOf(file: Buffer): Buffer {
  for (let index = 0, count = file.readUInt16BE(4); index < count; index += 1) {
    const at = 12 + index * 16;
    if (file.toString('latin1', at, at + 4) !== 'CFF ') continue;
    const offset = file.readUInt32BE(at + 8);
    return file.subarray(offset, offset + file.readUInt32BE(at + 12));
  }
  throw new RangeError('The font has no outlines.');
}

function readIndex(bytes: Buffer, at: number): { readonly items: readonly Buffer[]; readonly end: number } {
  const count = bytes.readUInt16BE(at);
  if (count === 0) return { items: [], end: at + 2 };
  const size = bytes.readUInt8(at + 2);
  const start = at + 2 + (count + 1) * size;
  const offsets = Array.from(
    { length: count + 1 },
    (_, index) => start + bytes.readUIntBE(at + 3 + index * size, size),
  );
  const items = offsets.slice(1).map((end, index) => bytes.subarray(offsets[index], end));
  return { items, end: offsets[count]! };
}

function readDictionary(bytes: Buffer): Dictionary {
  const entries = new Map<number, readonly number[]>();
  let operands: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes.readUInt8(at);
    if (byte > 21) {
      const [value, size] =
        byte === 30 ? realAt(bytes, at) : byte === 29 ? [bytes.readInt32BE(at + 1), 5] : numberAt(bytes, at);
      operands.push(value);
      at += size;
      continue;
    }
    entries.set(byte === 12 ? bytes.readUInt16BE(at) : byte, operands);
    operands = [];
    at += byte === 12 ? 2 : 1;
  }
  return entries;
}

function offsetIn(dictionary: Dictionary, operator: number): number {
  const [offset] = dictionary.get(operator) ?? [];
  if (offset === undefined) throw new RangeError('The font lacks a part.');
  return offset;
}

/** Returns the factor that makes thousandths of a width. */
function scaleOf(...dictionaries: readonly Dictionary[]): number {
  const factors = dictionaries.flatMap((each) => each.get(FONT_MATRIX)?.slice(0, 1) ?? []);
  return factors.reduce((product, factor) => product * factor, factors.length === 0 ? 1 : 1000);
}

function privateOf(bytes: Buffer, dictionary: Dictionary, scale: number): Private {
  const [size = 0, at = 0] = dictionary.get(PRIVATE) ?? [];
  const own = readDictionary(bytes.subarray(at, at + size));
  const [offset] = own.get(SUBROUTINES) ?? [];
  return {
    usual: own.get(DEFAULT_WIDTH)?.[0] ?? 0,
    nominal: own.get(NOMINAL_WIDTH)?.[0] ?? 0,
    subroutines: offset === undefined ? [] : readIndex(bytes, at + offset).items,
    scale,
  };
}

/** Returns the CID of each glyph, or the number of its name. */
function charsetOf(bytes: Buffer, at: number, count: number): number[] {
  const ids = [0];
  // Numbers below 3 name predefined charsets. The first has the names in their order.
  if (at === 0) return Array.from({ length: count }, (_, glyph) => glyph);
  if (at < 3) throw new RangeError('The charset of the font is not supported.');
  const format = bytes.readUInt8(at);
  const step = format === 0 ? 2 : format === 1 ? 3 : 4;
  for (let next = at + 1; ids.length < count; next += step) {
    const first = bytes.readUInt16BE(next);
    const left = format === 0 ? 0 : format === 1 ? bytes.readUInt8(next + 2) : bytes.readUInt16BE(next + 2);
    for (let index = 0; index <= left && ids.length < count; index += 1) ids.push(first + index);
  }
  return ids;
}

/** Returns the names of glyphs by code. */
function encodingOf(bytes: Buffer, at: number, names: readonly string[]): Map<number, string> {
  if (at === 0) return new Map(STANDARD_ENCODING);
  if (at === 1) throw new RangeError('The encoding of the font is not supported.');
  const isRanges = (bytes.readUInt8(at) & 0x7f) === 1;
  const codes = Array.from({ length: bytes.readUInt8(at + 1) }, (_, index) => {
    const place = at + 2 + index * (isRanges ? 2 : 1);
    const first = bytes.readUInt8(place);
    return Array.from({ length: isRanges ? bytes.readUInt8(place + 1) + 1 : 1 }, (__, more) => first + more);
  }).flat();
  return new Map(codes.map((code, index) => [code, names[index + 1] ?? '']));
}

/** Returns a function that tells the number of the private dictionary of a glyph. */
function selection(bytes: Buffer, at: number): (glyph: number) => number {
  if (bytes.readUInt8(at) === 0) return (glyph) => bytes.readUInt8(at + 1 + glyph);
  const ranges = Array.from({ length: bytes.readUInt16BE(at + 1) }, (_, index) => at + 3 + index * 3);
  return (glyph) => {
    const range = ranges.findLast((each) => bytes.readUInt16BE(each) <= glyph);
    return range === undefined ? 0 : bytes.readUInt8(range + 2);
  };
}

/** Returns the width that a glyph states before its first operator, or `undefined` if it has the usual one. */
function widthIn(
  program: Buffer,
  own: Private,
  shared: readonly Buffer[],
  stack: number[],
  depth: number,
): number | undefined {
  for (let at = 0; at < program.length; ) {
    const byte = program.readUInt8(at);
    if (byte >= 32 || byte === 28) {
      const [value, size] = numberAt(program, at);
      stack.push(value);
      at += size;
      continue;
    }
    at += 1;
    if (byte === 11) return undefined;
    if (byte === 10 || byte === 29) {
      const list = byte === 10 ? own.subroutines : shared;
      const called = list[(stack.pop() ?? Number.NaN) + biasOf(list.length)];
      if (!called || depth >= MAX_CALLS) throw new RangeError('A subroutine is missing.');
      const found = widthIn(called, own, shared, stack, depth + 1);
      if (found !== undefined) return found;
    } else if (byte === 12 && program.readUInt8(at) === 12) {
      const divisor = stack.pop() ?? Number.NaN;
      stack.push((stack.pop() ?? Number.NaN) / divisor);
      at += 1;
    } else {
      const isStated = HINTS.includes(byte)
        ? stack.length % 2 === 1
        : MOVES[byte]?.includes(stack.length - 1);
      if (isStated === undefined) throw new RangeError('A glyph has no width.');
      return isStated ? own.nominal + stack[0]! : own.usual;
    }
  }
  return undefined;
}

function biasOf(count: number): number {
  if (count < 1240) return 107;
  return count < 33_900 ? 1131 : 32_768;
}

function numberAt(bytes: Buffer, at: number): [value: number, size: number] {
  const byte = bytes.readUInt8(at);
  if (byte === 28) return [bytes.readInt16BE(at + 1), 3];
  if (byte <= 246) return [byte - 139, 1];
  if (byte <= 250) return [(byte - 247) * 256 + bytes.readUInt8(at + 1) + 108, 2];
  if (byte <= 254) return [-(byte - 251) * 256 - bytes.readUInt8(at + 1) - 108, 2];
  return [bytes.readInt32BE(at + 1) / 65_536, 5];
}

/** Reads a real number, which has a digit or a sign in each half of a byte. */
function realAt(bytes: Buffer, at: number): [value: number, size: number] {
  const digits = bytes.toString('hex', at + 1, at + 20).split('f', 1)[0]!;
  const signs: Readonly<Record<string, string>> = { a: '.', b: 'e', c: 'e-', e: '-' };
  const value = Number(digits.replace(/[abce]/g, (digit) => signs[digit]!));
  return [value, 2 + (digits.length >> 1)];
}
