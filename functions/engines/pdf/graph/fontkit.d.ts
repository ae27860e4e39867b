// The part of fontkit's interface that is used here. The package has no types of its own.
declare module 'fontkit' {
  interface Glyph {
    readonly id: number;
    readonly advanceWidth: number;
    readonly codePoints: readonly number[];
  }
  interface GlyphPosition {
    readonly xAdvance: number;
    readonly xOffset: number;
    readonly yOffset: number;
  }
  interface Subset {
    includeGlyph(glyph: Glyph | number): number;
    encode(): Uint8Array;
  }
  export interface Font {
    readonly postscriptName: string;
    readonly unitsPerEm: number;
    readonly ascent: number;
    readonly descent: number;
    readonly capHeight: number;
    readonly italicAngle: number;
    readonly bbox: {
      readonly minX: number;
      readonly minY: number;
      readonly maxX: number;
      readonly maxY: number;
    };
    hasGlyphForCodePoint(codePoint: number): boolean;
    layout(
      text: string,
      features: undefined,
      script: undefined,
      language: undefined,
      direction: 'ltr' | 'rtl',
    ): { readonly glyphs: readonly Glyph[]; readonly positions: readonly GlyphPosition[] };
    createSubset(): Subset;
  }
  interface FontCollection {
    readonly fonts: readonly Font[];
  }
  export function create(bytes: Uint8Array): Font | FontCollection;
}
