/** The names that all compact fonts (CFF) know by their number (Adobe Technical Note 5176, appendix A). */
const STANDARD_STRINGS: readonly string[] = (
  '.notdef space exclam quotedbl numbersign dollar percent ampersand quoteright parenleft parenright asterisk plus ' +
  'comma hyphen period slash zero one two three four five six seven eight nine colon semicolon less equal greater ' +
  'question at A B C D E F G H I J K L M N O P Q R S T U V W X Y Z bracketleft backslash bracketright asciicircum ' +
  'underscore quoteleft a b c d e f g h i j k l m n o p q r s t u v w x y z braceleft bar braceright asciitilde ' +
  'exclamdown cent sterling fraction yen florin section currency quotesingle quotedblleft guillemotleft guilsinglleft ' +
  'guilsinglright fi fl endash dagger daggerdbl periodcentered paragraph bullet quotesinglbase quotedblbase ' +
  'quotedblright guillemotright ellipsis perthousand questiondown grave acute circumflex tilde macron breve dotaccent ' +
  'dieresis ring cedilla hungarumlaut ogonek caron emdash AE ordfeminine Lslash Oslash OE ordmasculine ae dotlessi ' +
  'lslash oslash oe germandbls onesuperior logicalnot mu trademark Eth onehalf plusminus Thorn onequarter divide ' +
  'brokenbar degree thorn threequarters twosuperior registered minus eth multiply threesuperior copyright Aacute ' +
  'Acircumflex Adieresis Agrave Aring Atilde Ccedilla Eacute Ecircumflex Edieresis Egrave Iacute Icircumflex Idieresis ' +
  'Igrave Ntilde Oacute Ocircumflex Odieresis Ograve Otilde Scaron Uacute Ucircumflex Udieresis Ugrave Yacute Ydieresis ' +
  'Zcaron aacute acircumflex adieresis agrave aring atilde ccedilla eacute ecircumflex edieresis egrave iacute ' +
  'icircumflex idieresis igrave ntilde oacute ocircumflex odieresis ograve otilde scaron uacute ucircumflex udieresis ' +
  'ugrave yacute ydieresis zcaron exclamsmall Hungarumlautsmall dollaroldstyle dollarsuperior ampersandsmall Acutesmall ' +
  'parenleftsuperior parenrightsuperior twodotenleader onedotenleader zerooldstyle oneoldstyle twooldstyle ' +
  'threeoldstyle fouroldstyle fiveoldstyle sixoldstyle sevenoldstyle eightoldstyle nineoldstyle commasuperior ' +
  'threequartersemdash periodsuperior questionsmall asuperior bsuperior centsuperior dsuperior esuperior isuperior ' +
  'lsuperior msuperior nsuperior osuperior rsuperior ssuperior tsuperior ff ffi ffl parenleftinferior ' +
  'parenrightinferior Circumflexsmall hyphensuperior Gravesmall Asmall Bsmall Csmall Dsmall Esmall Fsmall Gsmall Hsmall ' +
  'Ismall Jsmall Ksmall Lsmall Msmall Nsmall Osmall Psmall Qsmall Rsmall Ssmall Tsmall Usmall Vsmall Wsmall Xsmall ' +
  'Ysmall Zsmall colonmonetary onefitted rupiah Tildesmall exclamdownsmall centoldstyle Lslashsmall Scaronsmall ' +
  'Zcaronsmall Dieresissmall Brevesmall Caronsmall Dotaccentsmall Macronsmall figuredash hypheninferior Ogoneksmall ' +
  'Ringsmall Cedillasmall questiondownsmall oneeighth threeeighths fiveeighths seveneighths onethird twothirds ' +
  'zerosuperior foursuperior fivesuperior sixsuperior sevensuperior eightsuperior ninesuperior zeroinferior oneinferior ' +
  'twoinferior threeinferior fourinferior fiveinferior sixinferior seveninferior eightinferior nineinferior ' +
  'centinferior dollarinferior periodinferior commainferior Agravesmall Aacutesmall Acircumflexsmall Atildesmall ' +
  'Adieresissmall Aringsmall AEsmall Ccedillasmall Egravesmall Eacutesmall Ecircumflexsmall Edieresissmall Igravesmall ' +
  'Iacutesmall Icircumflexsmall Idieresissmall Ethsmall Ntildesmall Ogravesmall Oacutesmall Ocircumflexsmall ' +
  'Otildesmall Odieresissmall OEsmall Oslashsmall Ugravesmall Uacutesmall Ucircumflexsmall Udieresissmall Yacutesmall ' +
  'Thornsmall Ydieresissmall 001.000 001.001 001.002 001.003 Black Bold Book Light Medium Regular Roman Semibold'
).split(' ');

/** Runs of codes and of the numbers of their names. */
const RUNS = [
  [32, 1, 95],
  [161, 96, 15],
  [177, 111, 4],
  [182, 115, 8],
  [191, 123, 1],
  [193, 124, 8],
  [202, 132, 2],
  [205, 134, 4],
  [225, 138, 1],
  [227, 139, 1],
  [232, 140, 4],
  [241, 144, 1],
  [245, 145, 1],
  [248, 146, 4],
] as const;

/** The names of glyphs by code in Adobe's standard encoding (appendix B). */
const STANDARD_ENCODING: ReadonlyMap<number, string> = new Map(
  RUNS.flatMap(([code, name, count]) =>
    Array.from({ length: count }, (_, index) => [code + index, STANDARD_STRINGS[name + index]!] as const),
  ),
);

/** The parts of a compact font program (CFF) that tell whether a PDF describes its glyphs rightly. */
interface Compact extends Type1 {
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

/** Characters of Windows-1252 and Mac Roman besides letters of ASCII, and the names of their glyphs in the same order. */
const CHARACTERS =
  ' !"#$%&\'()*+,-./0123456789:;<=>?@[\\]^_`{|}~€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ\u00a0¡¢£¤¥¦§¨©ª«¬\u00ad®¯°±²³´µ¶·¸¹º»¼½¾¿' +
  'ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿﬁﬂ⁄ı˘˙˚˝˛ˇ';
const NAMES = (
  'space exclam quotedbl numbersign dollar percent ampersand quotesingle parenleft parenright asterisk plus comma hyphen period ' +
  'slash zero one two three four five six seven eight nine colon semicolon less equal greater question at bracketleft backslash ' +
  'bracketright asciicircum underscore grave braceleft bar braceright asciitilde Euro quotesinglbase florin quotedblbase ellipsis ' +
  'dagger daggerdbl circumflex perthousand Scaron guilsinglleft OE Zcaron quoteleft quoteright quotedblleft quotedblright bullet ' +
  'endash emdash tilde trademark scaron guilsinglright oe zcaron Ydieresis space exclamdown cent sterling currency yen brokenbar ' +
  'section dieresis copyright ordfeminine guillemotleft logicalnot hyphen registered macron degree plusminus twosuperior ' +
  'threesuperior acute mu paragraph periodcentered cedilla onesuperior ordmasculine guillemotright onequarter onehalf ' +
  'threequarters questiondown Agrave Aacute Acircumflex Atilde Adieresis Aring AE Ccedilla Egrave Eacute Ecircumflex Edieresis ' +
  'Igrave Iacute Icircumflex Idieresis Eth Ntilde Ograve Oacute Ocircumflex Otilde Odieresis multiply Oslash Ugrave Uacute ' +
  'Ucircumflex Udieresis Yacute Thorn germandbls agrave aacute acircumflex atilde adieresis aring ae ccedilla egrave eacute ' +
  'ecircumflex edieresis igrave iacute icircumflex idieresis eth ntilde ograve oacute ocircumflex otilde odieresis divide oslash ' +
  'ugrave uacute ucircumflex udieresis yacute thorn ydieresis fi fl fraction dotlessi breve dotaccent ring hungarumlaut ogonek caron'
).split(' ');
const GLYPHS = new Map([...CHARACTERS].map((character, index) => [character, NAMES[index]!]));

/** Returns the names of glyphs by code, in an encoding that `TextDecoder` knows. */
export function glyphNames(label: string): Map<number, string> {
  const decoder = new TextDecoder(label);
  const codes = Array.from({ length: 224 }, (_, index) => index + 32);
  return new Map(
    codes.flatMap((code) => {
      const character = decoder.decode(Uint8Array.of(code));
      const name = /^[a-z]$/i.test(character) ? character : GLYPHS.get(character);
      return name === undefined ? [] : [[code, name] as const];
    }),
  );
}

/** The parts of a TrueType font program that tell whether a PDF describes its glyphs rightly. */
export interface TrueType {
  readonly glyphCount: number;
  /** Number of character maps. */
  readonly mapCount: number;
  /** Returns a glyph's advance in thousandths of the font size. */
  widthOf(glyph: number): number;
  /** Whether the program has an outline for a glyph. */
  hasOutline(glyph: number): boolean;
  /** Returns the glyph of a code by the character map of a platform and an encoding, if the font has that map. */
  mapOf(platform: number, encoding: number): ((code: number) => number) | undefined;
}

/** Reads a font program. @throws RangeError if it is damaged */
export function readTrueType(bytes: Buffer): TrueType {
  const tables = new Map<string, Buffer>();
  for (let index = 0, count = bytes.readUInt16BE(4); index < count; index += 1) {
    const at = 12 + index * 16;
    const offset = bytes.readUInt32BE(at + 8);
    const length = bytes.readUInt32BE(at + 12);
    tables.set(bytes.toString('latin1', at, at + 4), bytes.subarray(offset, offset + length));
  }
  const table = (name: string) => {
    const found = tables.get(name);
    if (!found) throw new RangeError(`The table ${name} is missing.`);
    return found;
  };
  const [head, hhea, maxp, hmtx, loca] = ['head', 'hhea', 'maxp', 'hmtx', 'loca'].map(table) as [
    Buffer,
    Buffer,
    Buffer,
    Buffer,
    Buffer,
  ];
  const unitsPerEm = head.readUInt16BE(18);
  const isLong = head.readInt16BE(50) === 1;
  const metrics = hhea.readUInt16BE(34);
  const glyphCount = maxp.readUInt16BE(4);
  const offsetOf = (glyph: number) =>
    isLong ? loca.readUInt32BE(glyph * 4) : loca.readUInt16BE(glyph * 2) * 2;
  if (unitsPerEm === 0 || metrics === 0) throw new RangeError('The font has no metrics.');
  return {
    glyphCount,
    mapCount: tables.get('cmap')?.readUInt16BE(2) ?? 0,
    widthOf: (glyph) => (hmtx.readUInt16BE(Math.min(glyph, metrics - 1) * 4) * 1000) / unitsPerEm,
    hasOutline: (glyph) => offsetOf(glyph + 1) > offsetOf(glyph),
    mapOf: (platform, encoding) => characterMap(tables.get('cmap'), platform, encoding),
  };
}

function characterMap(cmap: Buffer | undefined, platform: number, encoding: number) {
  if (!cmap) return undefined;
  for (let index = 0, count = cmap.readUInt16BE(2); index < count; index += 1) {
    const at = 4 + index * 8;
    if (cmap.readUInt16BE(at) !== platform || cmap.readUInt16BE(at + 2) !== encoding) continue;
    const map = cmap.subarray(cmap.readUInt32BE(at + 4));
    switch (map.readUInt16BE(0)) {
      case 0:
        return (code: number) => (code < 256 ? map.readUInt8(6 + code) : 0);
      case 4:
        return (code: number) => segmentGlyph(map, code);
      case 6:
        return (code: number) => {
          const from = code - map.readUInt16BE(6);
          return from >= 0 && from < map.readUInt16BE(8) ? map.readUInt16BE(10 + from * 2) : 0;
        };
      default:
        return undefined;
    }
  }
  return undefined;
}

/** Looks a code up in a map of format 4. */
function segmentGlyph(map: Buffer, code: number): number {
  const size = map.readUInt16BE(6);
  for (let at = 0; at < size; at += 2) {
    if (map.readUInt16BE(14 + at) < code) continue;
    const start = map.readUInt16BE(16 + size + at);
    if (start > code) return 0;
    const delta = map.readUInt16BE(16 + size * 2 + at);
    const offset = map.readUInt16BE(16 + size * 3 + at);
    if (offset === 0) return (code + delta) & 0xffff;
    const glyph = map.readUInt16BE(16 + size * 3 + at + offset + (code - start) * 2);
    return glyph === 0 ? 0 : (glyph + delta) & 0xffff;
  }
  return 0;
}

/** The parts of a Type 1 font program that tell whether a PDF describes its glyphs rightly. */
interface Type1 {
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
    widths.set(found[1]!, type1Width(decrypt(body.subarray(glyph.lastIndex, end), GLYPH_KEY, skipped)));
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
function type1Width(glyph: Buffer): number {
  const stack: number[] = [];
  for (let at = 0; ; ) {
    const byte = glyph.readUInt8(at);
    if (byte >= 32) {
      const [value, bytes] = type1NumberAt(glyph, at);
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

function type1NumberAt(glyph: Buffer, at: number): [value: number, bytes: number] {
  const byte = glyph.readUInt8(at);
  if (byte <= 246) return [byte - 139, 1];
  if (byte <= 250) return [(byte - 247) * 256 + glyph.readUInt8(at + 1) + 108, 2];
  if (byte <= 254) return [-(byte - 251) * 256 - glyph.readUInt8(at + 1) - 108, 2];
  return [glyph.readInt32BE(at + 1), 5];
}
