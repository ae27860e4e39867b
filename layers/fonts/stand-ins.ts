import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fonteditor from 'fonteditor-core';
import METRICS from './metrics.json' with { type: 'json' };

/** A face that looks like a free one, but has the letter widths and line heights of a font that cannot be shipped. */
export interface StandIn {
  /** Name of the font in documents. */
  readonly family: string;
  readonly style: Style;
  /** File of the free face that it is drawn from. */
  readonly base: string;
  /**
   * Characters to include. Fonts for ideographs have wide symbols and Greek letters, so their stand-ins leave
   * everything but ASCII to other fonts. Symbols are those that LibreOffice draws for characters of the font Symbol.
   */
  readonly letters: 'all' | 'ASCII' | 'symbols';
  /** Ascent in thousandths of the font size. */
  readonly ascent: number;
  readonly descent: number;
  readonly lineGap: number;
  /** Characters and their widths in thousandths of the font size, in the same order. */
  readonly characters: string;
  readonly widths: readonly number[];
}

/**
 * Maximum factor by which glyphs are widened. Those that need more, such as a narrow "1", get space on both sides.
 */
const WIDENED = 1.1;

type Style = 'Regular' | 'Bold' | 'Italic' | 'Bold Italic';

export const STAND_INS = METRICS as readonly StandIn[];

const RANGES: Readonly<Record<StandIn['letters'], ReadonlyArray<readonly [first: number, last: number]>>> = {
  // Latin, Greek and Cyrillic as far as Windows has code pages for them, Vietnamese, and the symbols of office
  // documents. Other characters are drawn with other faces, because the layers of doc2any have little space left on
  // AWS.
  all: [
    [0x20, 0x17f],
    [0x192, 0x192],
    [0x1a0, 0x1b0],
    [0x218, 0x21b],
    [0x2c6, 0x2dd],
    [0x300, 0x323],
    [0x384, 0x3ce],
    [0x400, 0x45f],
    [0x490, 0x491],
    [0x1ea0, 0x1ef9],
    [0x2010, 0x2044],
    [0x20a0, 0x20bf],
    [0x2100, 0x214f],
  ],
  ASCII: [[0x20, 0x7e]],
  symbols: [
    [0x20, 0x3ff],
    [0x2000, 0x26ff],
    [0xe100, 0xe16a],
    [0xf8eb, 0xf8fe],
  ],
};

/**
 * Stand-ins that keep a name which LibreOffice knows. It replaces Cambria with Caladea, whose license allows keeping
 * the name, and maps the characters of symbol fonts only for OpenSymbol and StarSymbol.
 */
const KNOWN_NAMES: Readonly<Record<string, string>> = { Cambria: 'Caladea', Symbol: 'StarSymbol' };

/** Returns the family name of a stand-in. */
export function standInName(family: string): string {
  return KNOWN_NAMES[family] ?? `Metric ${family}`;
}

/** Builds the face as TrueType. Its file name consists of its family name and style. */
export async function buildStandIn(
  standIn: StandIn,
  faces: string,
): Promise<{ name: string; bytes: Uint8Array }> {
  const { family, style, base, letters, ascent, descent, lineGap } = standIn;
  const font = fonteditor.createFont(await readFile(join(faces, base)), {
    type: 'ttf',
    hinting: false,
    subset: RANGES[letters].flatMap(([first, last]) =>
      Array.from({ length: last - first + 1 }, (_, index) => first + index),
    ),
  });
  const face = font.get();
  const unit = (face.head.unitsPerEm ?? 1000) / 1000;
  const scale = scaleOf(standIn, face.glyf, unit);
  for (const glyph of face.glyf) {
    const factor = scale(glyph.unicode?.[0]);
    const drawn = Math.min(factor, WIDENED);
    const space = (glyph.advanceWidth * (factor - drawn)) / 2;
    const place = (x: number) => Math.round(x * drawn + space);
    for (const point of (glyph.contours ?? []).flat()) point.x = place(point.x);
    glyph.advanceWidth = Math.round(glyph.advanceWidth * factor);
    glyph.leftSideBearing = place(glyph.leftSideBearing);
    glyph.xMin = place(glyph.xMin);
    glyph.xMax = place(glyph.xMax);
  }
  const [top, bottom, gap] = [ascent, descent, lineGap].map((each) => Math.round(each * unit)) as [
    number,
    number,
    number,
  ];
  Object.assign(face.hhea, { ascent: top, descent: bottom, lineGap: gap });
  Object.assign(face['OS/2'], {
    usWinAscent: top,
    usWinDescent: -bottom,
    sTypoAscender: top,
    sTypoDescender: bottom,
    sTypoLineGap: gap,
  });
  const name = standInName(family);
  const file = `${name}-${style}`.replaceAll(' ', '');
  face.name = {
    fontFamily: name,
    fontSubFamily: style,
    fullName: `${name} ${style}`,
    postScriptName: file,
    uniqueSubFamily: file,
    version: 'Version 1.0',
  };
  return {
    name: `${file}.ttf`,
    bytes: Buffer.from(font.write({ type: 'ttf', hinting: false }) as Uint8Array),
  };
}

/**
 * Returns the factor for each character's glyph. Accented letters are as wide as their base, and others as the
 * average.
 */
function scaleOf(
  { characters, widths }: StandIn,
  glyphs: ReadonlyArray<{ unicode?: readonly number[]; advanceWidth: number }>,
  unit: number,
): (code: number | undefined) => number {
  const own = new Map(
    glyphs.flatMap(({ unicode = [], advanceWidth }) => unicode.map((code) => [code, advanceWidth] as const)),
  );
  const factors = new Map<number, number>();
  for (const [index, character] of [...characters].entries()) {
    const code = character.codePointAt(0)!;
    const width = own.get(code);
    if (width) factors.set(code, (widths[index]! * unit) / width);
  }
  const all = [...factors.values()].sort((a, b) => a - b);
  const mean = all[Math.floor(all.length / 2)] ?? 1;
  return (code) => {
    if (code === undefined) return mean;
    return (
      factors.get(code) ?? factors.get(String.fromCodePoint(code).normalize('NFD').codePointAt(0)!) ?? mean
    );
  };
}
