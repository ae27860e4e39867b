// The part of the interface of bidi-js that is used here. The package's own types describe its default export wrongly.
declare module 'bidi-js' {
  interface EmbeddingLevels {
    readonly levels: Uint8Array;
    readonly paragraphs: ReadonlyArray<{ readonly level: number }>;
  }
  export default function createBidi(): {
    getEmbeddingLevels(text: string, direction?: 'ltr' | 'rtl'): EmbeddingLevels;
    getReorderedIndices(text: string, levels: EmbeddingLevels): readonly number[];
    getMirroredCharacter(character: string): string | null;
  };
}
