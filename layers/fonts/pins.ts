/** Where the faces come from. Versions are the suite's newest; the manifest names them. */
export const PINS = {
  suite: 'trixie',
  packages: [
    // Same widths as Arial, Times New Roman, Courier New and Arial Narrow.
    'fonts-liberation',
    'fonts-liberation-sans-narrow',
    // Same widths as Calibri and Cambria.
    'fonts-crosextra-carlito',
    'fonts-crosextra-caladea',
    // Same widths as Verdana; Arabic, Hebrew, Armenian, Georgian, mathematics and many symbols.
    'fonts-dejavu-core',
    'fonts-dejavu-mono',
    // The bullets and signs of office documents, for Wingdings and Symbol.
    'fonts-opensymbol',
    'fonts-noto-color-emoji',
    // 5 MB with all Hangul, kana and 20 932 ideographs; Noto Sans CJK is 20 MB a weight and would not fit beside Chromium.
    'fonts-wqy-microhei',
    'fonts-noto-core',
  ],
  /** Of `fonts-noto-core`, 42 MB, only scripts that no other face has. */
  notoScripts: [
    ...['Bengali', 'Devanagari', 'Ethiopic', 'Gujarati', 'Gurmukhi', 'Kannada', 'Khmer', 'Lao', 'Malayalam'],
    ...['Myanmar', 'Sinhala', 'Tamil', 'Telugu', 'Thai', 'Oriya', 'Cherokee', 'Mongolian', 'Arabic'],
    ...['Syriac', 'Thaana', 'NKo', 'CanadianAboriginal', 'Tifinagh', 'OlChiki', 'Javanese'],
  ],
  /** The same, of scripts that exist only with serifs. */
  notoSerifScripts: ['Tibetan'],
} as const;
