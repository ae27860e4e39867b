/** Fonts of the layer by the names that people know. They have the same widths. */
export const FONTS = {
  Helvetica: 'LiberationSans-Regular.ttf',
  'Helvetica-Bold': 'LiberationSans-Bold.ttf',
  Times: 'LiberationSerif-Regular.ttf',
  'Times-Bold': 'LiberationSerif-Bold.ttf',
  Courier: 'LiberationMono-Regular.ttf',
  'Courier-Bold': 'LiberationMono-Bold.ttf',
} as const;

export type FontName = keyof typeof FONTS;

export const FONT_NAMES = Object.keys(FONTS) as readonly FontName[];

/** Fonts for characters that the chosen font lacks, the most general ones first. */
export const FALLBACKS: readonly string[] = [
  'DejaVuSans.ttf',
  'wqy-microhei.ttc',
  ...(
    'Arabic Bengali CanadianAboriginal Cherokee Devanagari Ethiopic Gujarati Gurmukhi Javanese Kannada Khmer Lao ' +
    'Malayalam Mongolian Myanmar NKo OlChiki Oriya Sinhala Syriac Tamil Telugu Thaana Thai Tifinagh'
  )
    .split(' ')
    .map((script) => `NotoSans${script}-Regular.ttf`),
  'NotoSerifTibetan-Regular.ttf',
];
