/** Fonts of the layer by the names that people know. They have the same widths. */
export const FONTS = {
  Helvetica: 'LiberationSans-Regular.ttf',
  'Helvetica-Bold': 'LiberationSans-Bold.ttf',
  'Helvetica-Italic': 'LiberationSans-Italic.ttf',
  'Helvetica-BoldItalic': 'LiberationSans-BoldItalic.ttf',
  Times: 'LiberationSerif-Regular.ttf',
  'Times-Bold': 'LiberationSerif-Bold.ttf',
  'Times-Italic': 'LiberationSerif-Italic.ttf',
  'Times-BoldItalic': 'LiberationSerif-BoldItalic.ttf',
  Courier: 'LiberationMono-Regular.ttf',
  'Courier-Bold': 'LiberationMono-Bold.ttf',
  'Courier-Italic': 'LiberationMono-Italic.ttf',
  'Courier-BoldItalic': 'LiberationMono-BoldItalic.ttf',
} as const;

export type FontName = keyof typeof FONTS;

export const FONT_NAMES = Object.keys(FONTS) as readonly FontName[];

/**
 * Returns the most similar font of the layer for the name of a font, such as `/ArialMT`, or for the name that Acrobat gives
 * it in a form, such as `/HeBo`.
 */
export function similarFont(name: string): FontName {
  const plain = name.replace(/^\/([A-Z]{6}\+)?/, '');
  const isMonospaced = /cour|mono|consol/i.test(plain) || /^Co(Bo|Ob|BO)$/.test(plain);
  const isSerif = /times|georgia|garamond|palatino|cambria|minion|bookman|(?<!sans[ -]?)serif/i.test(plain);
  const family = isMonospaced
    ? 'Courier'
    : isSerif || /^Ti(Ro|Bo|It|BI)$/.test(plain)
      ? 'Times'
      : 'Helvetica';
  const bold = /bold|black|heavy|demi/i.test(plain) || /^(He|Co|Ti)B[oOI]$/.test(plain) ? 'Bold' : '';
  const italic = /ital|obli/i.test(plain) || /^(He|Co|Ti)(Ob|It|BO|BI)$/.test(plain) ? 'Italic' : '';
  return [family, `${bold}${italic}`].filter(Boolean).join('-') as FontName;
}

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

/**
 * Order of the glyphs of common fonts. Documents that do not embed a font number its glyphs all the same, although the
 * font that replaces it has another order.
 */
interface GlyphOrder {
  /** Matches the name of a font. */
  readonly family: RegExp;
  /** Characters by glyph number. */
  readonly characters: ReadonlyMap<number, string>;
}

/** The fonts from Windows 3.1 to XP: those of Mac Roman without the no-break space and the apple, then the rest of WGL4. */
function classicOrder(): Map<number, string> {
  const codes = Array.from({ length: 0xe0 }, (_, index) => 0x20 + index);
  const present = codes.filter((code) => ![0x7f, 0xca, 0xf0].includes(code));
  const roman = new TextDecoder('macintosh').decode(Uint8Array.from(present));
  const latin = 'ŁłŠšŽž¦ÐðÝýÞþ−×¹²³½¼¾₣ĞğİŞşĆćČčđ¯∙ĂăĄąĎďĐĘęĚěĹĺĽľĿŀŃńŇňŐőŔŕŘřŚśŢţŤťŮůŰűŹźŻż';
  return new Map([
    ...numbered(3, roman + latin),
    ...numbered(570, range(0x410, 0x44f)),
    ...numbered(672, range(0x5d0, 0x5ea)),
  ]);
}

function numbered(first: number, characters: string): Array<readonly [number, string]> {
  return [...characters].map((character, index) => [first + index, character] as const);
}

function range(from: number, to: number): string {
  return String.fromCodePoint(...Array.from({ length: to - from + 1 }, (_, index) => from + index));
}

const CALIBRI =
  '4A 5À 6Á 9Ä 17B 18C 21Č 24D 28E 29È 30É 32Ě 38F 39G 44H 47I 48Ì 49Í 58J 60K 62L 68M 69N 75O 76Ò 80Ö 87P 89Q 90R ' +
  '92Ř 94S 97Š 100T 104U 109Ü 115V 116W 121X 122Y 124Ý 127Z 129Ž 258a 259à 260á 263ä 268ą 271b 272c 273ć 275č 282d ' +
  '286e 287è 288é 290ě 295ę 296f 336g 346h 349i 350ì 351í 361j 364k 367l 371ł 373m 374n 381o 382ò 383ó 386ö 393p ' +
  '395q 396r 398ř 400s 401ś 403š 410t 437u 442ü 448v 449w 454x 455y 457ý 460z 462ž 463ż';

/** The first order whose family matches a font's name applies. */
export const GLYPH_ORDERS: readonly GlyphOrder[] = [
  {
    family: /calibri/i,
    characters: new Map([
      [1, ' '],
      ...[...CALIBRI.matchAll(/(\d+)(\S)/g)].map(
        ([, glyph, character]) => [Number(glyph), character!] as const,
      ),
      ...numbered(853, ','),
      ...numbered(855, ':.'),
      ...numbered(876, '/'),
      ...numbered(878, '-'),
      ...numbered(882, '-'),
      ...numbered(894, '()[]'),
      ...numbered(923, '@'),
      ...numbered(940, '£'),
      ...numbered(1004, '0123456789'),
      ...numbered(1081, '%'),
      ...numbered(1085, '+-'),
    ]),
  },
  {
    family:
      /arial|times ?new|courier ?new|verdana|georgia|tahoma|trebuchet|comic ?sans|century ?gothic|lucida ?console/i,
    characters: classicOrder(),
  },
];
