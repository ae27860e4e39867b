import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import createBidi from 'bidi-js';
import { create, type Font } from 'fontkit';
import { FALLBACKS, FONTS, type FontName } from './fonts.ts';
import type { Dictionary, Graph } from './graph.ts';

/** A line of text as operators of a content stream. Lengths are in points for a font size of 1. */
export interface Line {
  readonly width: number;
  /** Height of capital letters. */
  readonly height: number;
  /** Returns the operators between `BT` and `ET`, for a font size. */
  operators(size: number): string;
}

interface Used {
  readonly font: Font;
  readonly subset: ReturnType<Font['createSubset']>;
  /** Widths in thousandths of the font size, and characters, by glyph of the subset. */
  readonly widths: Map<number, number>;
  readonly texts: Map<number, string>;
  /** Name in the resources. */
  readonly name: string;
  readonly ref: string;
}

/** Fonts that texts of this process have chosen, by file. */
const read = new Map<string, Font>();

function readFont(path: string): Font {
  const font = create(readFileSync(path));
  return 'fonts' in font ? font.fonts[0]! : font;
}

/** Sets texts in fonts of the layer, and embeds the glyphs that are used. */
export class Typesetter {
  readonly #graph: Graph;
  readonly #folder: string;
  readonly #used = new Map<string, Used | undefined>();
  /** Collects characters that no font has. They are drawn as boxes. */
  readonly missing = new Set<number>();

  constructor(graph: Graph, folder: string) {
    this.#graph = graph;
    this.#folder = folder;
  }

  /** Resources for `Line.operators`. Complete from the start, because `finish` writes what they refer to. */
  fonts(): Dictionary {
    const used = [...this.#used.values()].filter((each) => each !== undefined);
    return Object.fromEntries(used.map(({ name, ref }) => [name, ref]));
  }

  /** Sets a line. By default, its first letter decides about its direction. */
  line(text: string, fontName: FontName, direction?: Direction): Line {
    const shown = text.normalize('NFC').replace(/\p{Cc}/gu, ' ');
    const runs = visualRuns(shown, direction).flatMap((run) => {
      const inOneFont = this.#runsOf(run.text, FONTS[fontName]).map((each) => ({
        ...each,
        direction: run.direction,
      }));
      return run.direction === 'rtl' ? inOneFont.reverse() : inOneFont;
    });
    let width = 0;
    const parts = runs.map((run) => {
      const { font, subset, widths, texts, name } = run.used;
      const unit = 1 / font.unitsPerEm;
      const { glyphs, positions } = font.layout(run.text, undefined, undefined, undefined, run.direction);
      const set = glyphs.map((glyph, index) => {
        const { xAdvance, xOffset, yOffset } = positions[index]!;
        const id = subset.includeGlyph(glyph);
        widths.set(id, glyph.advanceWidth * unit * 1000);
        // A box stands for any character.
        if (glyph.id !== 0 && !texts.has(id)) texts.set(id, String.fromCodePoint(...glyph.codePoints));
        width += xAdvance * unit;
        const before = -xOffset * unit * 1000;
        const after = (glyph.advanceWidth - xAdvance + xOffset) * unit * 1000;
        return { id, before, after, rise: yOffset * unit };
      });
      return { name, set };
    });
    const { font } = runs[0]!.used;
    return {
      width,
      height: (font.capHeight || 0.7 * font.unitsPerEm) / font.unitsPerEm,
      operators: (size) =>
        parts
          .map(({ name, set }) => {
            const glyphs = set.map(({ id, before, after, rise }) => {
              const code = `<${id.toString(16).padStart(4, '0')}>`;
              const glyph = `[${gap(before)}${code}${gap(after)}] TJ`;
              return rise === 0 ? glyph : `${fixed(rise * size)} Ts ${glyph} 0 Ts`;
            });
            return `${name} ${fixed(size)} Tf ${glyphs.join(' ')}`;
          })
          .join(' '),
    };
  }

  /** Writes the fonts that were used. */
  finish(): void {
    for (const used of this.#used.values()) if (used) this.#embed(used);
  }

  /** Splits a text into runs that one font can show. */
  #runsOf(text: string, file: string): Array<{ used: Used; text: string }> {
    const runs: Array<{ used: Used; text: string }> = [];
    for (const character of text) {
      const code = character.codePointAt(0)!;
      const last = runs.at(-1);
      const isNeutral = /[\s\p{P}\p{M}]/u.test(character);
      const isInvisible = /\p{Default_Ignorable_Code_Point}/u.test(character);
      // Spaces and marks stay in the font of the text before them if it has them.
      const stays = isInvisible || (isNeutral && last?.used.font.hasGlyphForCodePoint(code));
      const own = stays ? (last?.used ?? this.#open(file)) : undefined;
      const used = own ?? this.#fontFor(code, file);
      if (last?.used === used) last.text += character;
      else runs.push({ used, text: character });
    }
    return runs;
  }

  #fontFor(code: number, file: string): Used {
    for (const name of [file, ...FALLBACKS]) {
      const used = this.#open(name);
      if (used?.font.hasGlyphForCodePoint(code)) return used;
    }
    this.missing.add(code);
    return this.#open(file)!;
  }

  #open(file: string): Used | undefined {
    if (this.#used.has(file)) return this.#used.get(file);
    let used: Used | undefined;
    try {
      const font = read.get(file) ?? readFont(join(this.#folder, file));
      // The tables of a font take longer to decode than most texts to set.
      if (Object.values<string>(FONTS).includes(file)) read.set(file, font);
      const name = `/DmF${this.#used.size}`;
      const ref = this.#graph.add({});
      used = { font, subset: font.createSubset(), widths: new Map(), texts: new Map(), name, ref };
    } catch (thrown) {
      // A font may be missing, except the chosen one.
      if (Object.values<string>(FONTS).includes(file)) throw thrown;
    }
    this.#used.set(file, used);
    return used;
  }

  #embed({ font, subset, widths, texts, ref }: Used): void {
    if (widths.size === 0) {
      this.#graph.set(ref, null);
      return;
    }
    const graph = this.#graph;
    const unit = 1000 / font.unitsPerEm;
    const round = (value: number) => Math.round(value * unit);
    const name = `/DOCMIL+${font.postscriptName.replace(/[^\w-]/g, '')}`;
    const bytes = subset.encode();
    const file = graph.addStream({ '/Filter': '/FlateDecode', '/Length1': bytes.length }, deflateSync(bytes));
    const descriptor = graph.add({
      '/Type': '/FontDescriptor',
      '/FontName': name,
      '/Flags': 4,
      '/FontBBox': [font.bbox.minX, font.bbox.minY, font.bbox.maxX, font.bbox.maxY].map(round),
      '/ItalicAngle': font.italicAngle || 0,
      '/Ascent': round(font.ascent),
      '/Descent': round(font.descent),
      '/CapHeight': round(font.capHeight || font.ascent),
      '/StemV': 80,
      '/FontFile2': file,
    });
    const descendant = graph.add({
      '/Type': '/Font',
      '/Subtype': '/CIDFontType2',
      '/BaseFont': name,
      '/CIDSystemInfo': { '/Registry': 'u:Adobe', '/Ordering': 'u:Identity', '/Supplement': 0 },
      '/FontDescriptor': descriptor,
      '/CIDToGIDMap': '/Identity',
      '/W': [...widths].flatMap(([id, width]) => [id, [Number(width.toFixed(2))]]),
    });
    graph.set(ref, {
      '/Type': '/Font',
      '/Subtype': '/Type0',
      '/BaseFont': name,
      '/Encoding': '/Identity-H',
      '/DescendantFonts': [descendant],
      '/ToUnicode': graph.addStream({}, toUnicode(texts)),
    });
  }
}

/** Returns the map from glyphs to characters, for `/ToUnicode` of a font. */
export function toUnicode(texts: ReadonlyMap<number, string>): string {
  const hex = (text: string) => Buffer.from(text, 'utf16le').swap16().toString('hex');
  const rows = [...texts]
    .filter(([, text]) => text !== '')
    .map(([id, text]) => `<${id.toString(16).padStart(4, '0')}> <${hex(text)}>`);
  const blocks: string[] = [];
  for (let at = 0; at < rows.length; at += 100) {
    const some = rows.slice(at, at + 100);
    blocks.push(`${some.length} beginbfchar\n${some.join('\n')}\nendbfchar`);
  }
  return `/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CMapName /Adobe-Identity-UCS def /CMapType 2 def
1 begincodespacerange <0000> <ffff> endcodespacerange
${blocks.join('\n')}
endcmap CMapName currentdict /CMap defineresource pop end end`;
}

function gap(thousandths: number): string {
  return Math.abs(thousandths) < 0.01 ? '' : ` ${fixed(thousandths)} `;
}

export function fixed(value: number): string {
  return String(Number(value.toFixed(4)));
}

type Direction = 'ltr' | 'rtl';

/** A part of a line whose characters are next to each other on the page. They are in the order in which they are read. */
interface VisualRun {
  readonly text: string;
  readonly direction: Direction;
}

const bidi = createBidi();

/** Returns the direction of a paragraph, which is that of its first letter. */
export function directionOf(paragraph: string): Direction {
  return (bidi.getEmbeddingLevels(paragraph).paragraphs[0]?.level ?? 0) % 2 === 1 ? 'rtl' : 'ltr';
}

/** Divides a line into runs of one direction, and returns them from left to right (Unicode Standard Annex 9). */
export function visualRuns(line: string, direction = directionOf(line)): readonly VisualRun[] {
  const embedding = bidi.getEmbeddingLevels(line, direction);
  const { levels } = embedding;
  const runs: Array<VisualRun & { text: string; readonly level: number }> = [];
  let last = -1;
  for (const index of bidi.getReorderedIndices(line, embedding)) {
    const level = levels[index]!;
    const isReversed = level % 2 === 1;
    const run = runs.at(-1);
    const goesOn = run?.level === level && index === last + (isReversed ? -1 : 1);
    const character = isReversed ? (bidi.getMirroredCharacter(line[index]!) ?? line[index]!) : line[index]!;
    if (run && goesOn) run.text = isReversed ? character + run.text : run.text + character;
    else runs.push({ text: character, level, direction: isReversed ? 'rtl' : 'ltr' });
    last = index;
  }
  return runs;
}
