/** Packages with the fonts. Versions are the newest of the suite and are recorded in the manifest. */
export const PINS = {
  suite: 'trixie',
  packages: [
    // Metrics of Arial, Times New Roman, Courier New and Arial Narrow.
    'fonts-liberation',
    'fonts-liberation-sans-narrow',
    // Metrics of Calibri and Cambria.
    'fonts-crosextra-carlito',
    'fonts-crosextra-caladea',
    // Metrics of Verdana. Also covers Hebrew, Armenian, Georgian, mathematics and many symbols.
    'fonts-dejavu-core',
    'fonts-dejavu-mono',
    // Bullets and symbols of office documents, in place of Wingdings and Symbol.
    'fonts-opensymbol',
    'fonts-noto-color-emoji',
    // Covers all Hangul, kana and 20,932 ideographs in 5 MB. Noto Sans CJK needs 20 MB per weight, which does not fit
    // next to Chromium.
    'fonts-wqy-microhei',
    // Japanese forms of 6,500 ideographs in 2 MB.
    'fonts-motoya-l-cedar',
    'fonts-noto-core',
  ],
  /** Scripts taken from `fonts-noto-core`, which has 42 MB in total. No other font covers them. */
  notoScripts: [
    'Bengali',
    'Devanagari',
    'Ethiopic',
    'Gujarati',
    'Gurmukhi',
    'Kannada',
    'Khmer',
    'Lao',
    'Malayalam',
    'Myanmar',
    'Sinhala',
    'Tamil',
    'Telugu',
    'Thai',
    'Oriya',
    'Cherokee',
    'Mongolian',
    'Arabic',
    'Syriac',
    'Thaana',
    'NKo',
    'CanadianAboriginal',
    'Tifinagh',
    'OlChiki',
    'Javanese',
  ],
  /** Further scripts from it that exist only with serifs. */
  notoSerifScripts: ['Tibetan'],
} as const;
