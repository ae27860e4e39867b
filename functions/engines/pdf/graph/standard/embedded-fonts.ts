import { toAscii } from '../../../../shared/quote.ts';
import {
  type Dictionary,
  type Graph,
  isDictionary,
  isReference,
  type ReadStream,
  type Value,
} from '../graph.ts';
import { glyphNames, readCompact, readTrueType, readType1, type TrueType } from './font-programs.ts';
import type { Level } from './metadata.ts';

/** Maximum difference in thousandths between the width that a PDF states for a glyph and that of its font program. */
const TOLERANCE = 1;
const STANDARD_ENCODINGS: Readonly<Record<string, string>> = {
  '/WinAnsiEncoding': 'windows-1252',
  '/MacRomanEncoding': 'macintosh',
};

/** Codes of Mac Roman by the name of their glyph. */
const MACINTOSH = new Map([...glyphNames('macintosh')].map(([code, name]) => [name, code]));

/**
 * Mends a font, and returns what keeps it from following the standard. `codes` are the strings that are shown in it.
 */
export function checkFont(
  graph: Graph,
  read: ReadStream,
  { ref, codes, level }: { readonly ref: string; readonly codes: Iterable<string>; readonly level: Level },
): string[] {
  const font = graph.dict(ref);
  const named = String(graph.get(font['/BaseFont']) ?? font['/Name'] ?? '');
  const name = toAscii(named.slice(1).replace(/^[A-Z]{6}\+/, ''));
  const what = /[a-z\d]/i.test(name) ? `The font ${name}` : 'A font';
  try {
    const problem =
      problemOf(graph, read, { font, codes, level }) ??
      (level.isUnicode ? unicodeProblem(graph, read, font, codes) : undefined);
    return problem === undefined ? [] : [`${what} ${problem}.`];
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    return [`${what} cannot be read.`];
  }
}

interface FontUse {
  readonly font: Dictionary;
  readonly codes: Iterable<string>;
  readonly level: Level;
}

function problemOf(graph: Graph, read: ReadStream, { font, codes, level }: FontUse): string | undefined {
  switch (graph.get(font['/Subtype'])) {
    case '/Type0':
      return composite(graph, read, { font, codes, level });
    case '/TrueType':
      return trueType(graph, read, { font, codes, level });
    case '/Type3':
      return undefined;
    default:
      return type1(graph, read, { font, codes, level });
  }
}

function composite(graph: Graph, read: ReadStream, { font, codes, level }: FontUse): string | undefined {
  const [ref] = graph.list(font['/DescendantFonts']);
  const descendant = graph.dict(ref);
  const descriptorRef = descendant['/FontDescriptor'];
  const descriptor = graph.dict(descriptorRef);
  const program = read(descriptor['/FontFile2']);
  const compact = read(descriptor['/FontFile3']);
  if (!program && !compact) return 'is not embedded';
  if (graph.get(font['/Encoding']) !== '/Identity-H' && graph.get(font['/Encoding']) !== '/Identity-V')
    return 'has an encoding that cannot be verified';
  if (!program) return compactComposite(graph, compact!, { descendant, descriptorRef, codes, level });
  if (graph.get(descendant['/Subtype']) !== '/CIDFontType2') return 'is not described as TrueType';
  const map = graph.get(descendant['/CIDToGIDMap']);
  if (map === null && isReference(ref)) graph.merge(ref, { '/CIDToGIDMap': '/Identity' });
  else if (map !== '/Identity' && map !== null) return 'has a map of glyphs that cannot be verified';
  const parsed = readTrueType(program);
  const widths = compositeWidths(graph, descendant);
  const standard = graph.number(descendant['/DW'], 1000);
  for (const glyph of pairsOf(codes)) {
    const problem = glyphProblem(parsed, glyph, widths.get(glyph) ?? standard);
    if (problem) return problem;
  }
  if (isReference(descriptorRef)) {
    const set = level.part === 1 ? graph.addStream({}, cidSet(parsed)) : null;
    graph.merge(descriptorRef, { '/CIDSet': set });
  }
  return undefined;
}

/** Checks a composite font with a compact program. */
function compactComposite(
  graph: Graph,
  program: Buffer,
  {
    descendant,
    descriptorRef,
    codes,
    level,
  }: {
    readonly descendant: Dictionary;
    readonly descriptorRef: Value | undefined;
    readonly codes: Iterable<string>;
    readonly level: Level;
  },
): string | undefined {
  if (graph.get(descendant['/Subtype']) !== '/CIDFontType0') return 'is not described as compact';
  const parsed = readCompact(program);
  const unknown = nameProgram(
    graph,
    graph.dict(descriptorRef)['/FontFile3'],
    program,
    '/CIDFontType0C',
    level,
  );
  if (unknown) return unknown;
  const widths = compositeWidths(graph, descendant);
  const standard = graph.number(descendant['/DW'], 1000);
  for (const cid of pairsOf(codes)) {
    const glyph = parsed.glyphOf(cid);
    if (!glyph) return 'lacks a glyph that the text uses';
    const difference = Math.abs(parsed.widthOf(glyph) - (widths.get(cid) ?? standard));
    if (!(difference <= TOLERANCE)) return 'has other widths than the PDF states';
  }
  if (isReference(descriptorRef)) {
    const set = level.part === 1 ? graph.addStream({}, bitsOf(parsed.cids)) : null;
    graph.merge(descriptorRef, { '/CIDSet': set });
  }
  return undefined;
}

/** States the kind of a compact program, which some programs omit. */
function nameProgram(
  graph: Graph,
  ref: Value | undefined,
  program: Buffer,
  bare: '/Type1C' | '/CIDFontType0C',
  level: Level,
): string | undefined {
  const isOpenType = program.toString('latin1', 0, 4) === 'OTTO';
  if (isOpenType && level.part === 1) return 'is OpenType, which PDF/A-1 does not allow';
  const kind = isOpenType ? '/OpenType' : bare;
  if (isReference(ref) && graph.dict(ref)['/Subtype'] !== kind) graph.merge(ref, { '/Subtype': kind });
  return undefined;
}

function pairsOf(codes: Iterable<string>): Set<number> {
  const pairs = new Set<number>();
  for (const code of codes) {
    for (let at = 0; at + 1 < code.length; at += 2)
      pairs.add(code.charCodeAt(at) * 256 + code.charCodeAt(at + 1));
  }
  return pairs;
}

/** Reads the widths of a composite font: `[first [width …] first last width …]`. */
function compositeWidths(graph: Graph, font: Dictionary): Map<number, number> {
  const widths = new Map<number, number>();
  const list = graph.list(font['/W']);
  for (let at = 0; at + 1 < list.length; ) {
    const first = graph.number(list[at]);
    const second = graph.get(list[at + 1]);
    if (Array.isArray(second)) {
      for (const [index, width] of (second as readonly Value[]).entries())
        widths.set(first + index, graph.number(width));
      at += 2;
      continue;
    }
    const last = Math.min(Number(second), first + 65_535);
    for (let code = first; code <= last; code += 1) widths.set(code, graph.number(list[at + 2]));
    at += 3;
  }
  return widths;
}

/** The glyphs of a program, as one bit each. */
function cidSet({ glyphCount, hasOutline, widthOf }: TrueType): Buffer {
  const glyphs = Array.from({ length: glyphCount }, (_, glyph) => glyph);
  return bitsOf(glyphs.filter((glyph) => glyph === 0 || hasOutline(glyph) || widthOf(glyph) > 0));
}

function bitsOf(numbers: Iterable<number>): Buffer {
  const all = [...numbers];
  const bits = Buffer.alloc(Math.ceil((Math.max(0, ...all) + 1) / 8));
  for (const number of all) bits[number >> 3]! |= 0x80 >> (number & 7);
  return bits;
}

function glyphProblem(font: TrueType, glyph: number, width: number): string | undefined {
  if (glyph === 0 || glyph >= font.glyphCount) return 'lacks a glyph that the text uses';
  const difference = Math.abs(font.widthOf(glyph) - width);
  return difference > TOLERANCE ? 'has other widths than the PDF states' : undefined;
}

function trueType(graph: Graph, read: ReadStream, { font, codes, level }: FontUse): string | undefined {
  const descriptor = graph.dict(font['/FontDescriptor']);
  const program = read(descriptor['/FontFile2']);
  if (!program) return 'is not embedded';
  const parsed = readTrueType(program);
  const isSymbolic = (graph.number(descriptor['/Flags']) & 4) !== 0;
  const glyphOf = isSymbolic ? symbolicMap(graph, font, parsed, level) : namedMap(graph, font, parsed);
  if (typeof glyphOf === 'string') return glyphOf;
  const widths = graph.list(font['/Widths']);
  const first = graph.number(font['/FirstChar']);
  const missing = graph.number(descriptor['/MissingWidth']);
  for (const code of singlesOf(codes)) {
    const width = widths[code - first];
    const stated = width === undefined ? missing : graph.number(width);
    const problem = glyphProblem(parsed, glyphOf(code), stated);
    if (problem) return problem;
  }
  return undefined;
}

function type1(graph: Graph, read: ReadStream, { font, codes, level }: FontUse): string | undefined {
  const ref = font['/FontDescriptor'];
  const { '/FontFile': file, '/FontFile3': compact, ...descriptor } = graph.dict(ref);
  const program = read(file);
  const compactProgram = read(compact);
  if (!program && !compactProgram) return 'is not embedded';
  const parsed = program
    ? readType1(program, graph.number(graph.dict(file)['/Length1']))
    : readCompact(compactProgram!);
  const unknown = program ? undefined : nameProgram(graph, compact, compactProgram!, '/Type1C', level);
  if (unknown) return unknown;
  const encoding = graph.get(font['/Encoding']);
  const base = isDictionary(encoding) ? graph.get(encoding['/BaseEncoding'] ?? null) : encoding;
  const label = STANDARD_ENCODINGS[String(base)];
  const names = new Map(base === null ? parsed.encoding : label === undefined ? [] : glyphNames(label));
  let next = 0;
  for (const each of graph.list(isDictionary(encoding) ? encoding['/Differences'] : null)) {
    const found = graph.get(each);
    if (typeof found === 'number') next = found;
    else {
      names.set(next, String(found).slice(1));
      next += 1;
    }
  }
  const widths = graph.list(font['/Widths']);
  const first = graph.number(font['/FirstChar']);
  for (const code of singlesOf(codes)) {
    const name = names.get(code);
    if (name === undefined) return 'has an encoding that cannot be verified';
    const width = parsed.widths.get(name);
    if (width === undefined || name === '.notdef') return 'lacks a glyph that the text uses';
    const stated = widths[code - first];
    const expected = stated === undefined ? graph.number(descriptor['/MissingWidth']) : graph.number(stated);
    if (!(Math.abs(width - expected) <= TOLERANCE)) return 'has other widths than the PDF states';
  }
  if (isReference(ref)) {
    const set = [...parsed.widths.keys()].filter((name) => name !== '.notdef').map((name) => `/${name}`);
    graph.merge(ref, { '/CharSet': level.part === 1 ? `u:${set.join('')}` : null });
  }
  return undefined;
}

type GlyphOf = (code: number) => number;

function symbolicMap(graph: Graph, font: Dictionary, parsed: TrueType, { part }: Level): GlyphOf | string {
  if (graph.get(font['/Encoding']) !== null) return 'is symbolic, but has an encoding';
  const [symbols, macintosh] = [parsed.mapOf(3, 0), parsed.mapOf(1, 0)];
  if (!symbols && !macintosh) return 'has no map of its characters';
  if (parsed.mapCount !== 1 && (part === 1 || !symbols)) return 'has several maps of its characters';
  return (code) => {
    const glyph = symbols?.(0xf000 + code) || symbols?.(code);
    return glyph || macintosh?.(code) || 0;
  };
}

function namedMap(graph: Graph, font: Dictionary, parsed: TrueType): GlyphOf | string {
  const encoding = graph.get(font['/Encoding']);
  const label = STANDARD_ENCODINGS[String(encoding)];
  if (label === undefined) return 'has an encoding that cannot be verified';
  const [unicode, macintosh] = [parsed.mapOf(3, 1), parsed.mapOf(1, 0)];
  if (!unicode && !macintosh) return 'has no map of its characters';
  const names = glyphNames(label);
  const decoder = new TextDecoder(label);
  return (code) => {
    if (unicode) return unicode(decoder.decode(Uint8Array.of(code)).codePointAt(0) ?? 0);
    return macintosh!(MACINTOSH.get(names.get(code) ?? '') ?? 0);
  };
}

/** Returns why a text cannot be read as Unicode. */
function unicodeProblem(
  graph: Graph,
  read: ReadStream,
  font: Dictionary,
  codes: Iterable<string>,
): string | undefined {
  const lacks = 'does not say which characters its glyphs are';
  const cmap = read(font['/ToUnicode'])?.toString('latin1');
  const isComposite = graph.get(font['/Subtype']) === '/Type0';
  if (cmap === undefined)
    return !isComposite && STANDARD_ENCODINGS[String(graph.get(font['/Encoding']))] ? undefined : lacks;
  const known = unicodeCodes(cmap);
  const used = isComposite ? pairsOf(codes) : singlesOf(codes);
  for (const code of used) if (!known.has(code)) return lacks;
  return undefined;
}

function singlesOf(codes: Iterable<string>): Set<number> {
  const singles = new Set<number>();
  for (const code of codes) for (let at = 0; at < code.length; at += 1) singles.add(code.charCodeAt(at));
  return singles;
}

/** Returns the codes that a map gives a character. U+0000, U+FEFF and U+FFFE are none. */
function unicodeCodes(cmap: string): Set<number> {
  const known = new Set<number>();
  const isCharacter = (hex: string) => !/^(0000|feff|fffe)?$/i.test(hex.replace(/\s/g, ''));
  const number = (hex: string) => Number.parseInt(hex.replace(/\s/g, ''), 16);
  for (const block of blocksOf(cmap, 'bfchar')) {
    for (const [, code, hex] of block.matchAll(/<([\da-f\s]+)>\s*<([\da-f\s]*)>/gi))
      if (isCharacter(hex!)) known.add(number(code!));
  }
  for (const block of blocksOf(cmap, 'bfrange')) {
    const ranges = block.matchAll(/<([\da-f\s]+)>\s*<([\da-f\s]+)>\s*(?:<([\da-f\s]*)>|\[([^\]]*)\])/gi);
    for (const [, from, to, hex, list] of ranges) {
      const [first, last] = [number(from!), Math.min(number(to!), number(from!) + 65_535)];
      const each = [...(list ?? '').matchAll(/<([\da-f\s]*)>/gi)].map(([, own]) => own!);
      for (let code = first; code <= last; code += 1)
        if (isCharacter(list === undefined ? (hex ?? '') : (each[code - first] ?? ''))) known.add(code);
    }
  }
  return known;
}

function blocksOf(cmap: string, name: string): string[] {
  return cmap
    .split(`begin${name}`)
    .slice(1)
    .map((block) => block.split(`end${name}`, 1)[0]!);
}
