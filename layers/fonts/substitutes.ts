/** Faces by the names of fonts that documents and pages use. */
export type Substitutes = Readonly<Record<string, readonly string[]>>;

/** Covers the Japanese forms of ideographs, where other fonts have the Chinese ones. */
export const JAPANESE = 'MotoyaLCedar';

/**
 * Substitutes for fonts that documents and pages name. In the first group, every glyph has the same width as the
 * original, and in the others most have nearly the same.
 */
export const STANDS_FOR: Substitutes = {
  'Liberation Sans': names`Arial, Helvetica, Arial Unicode MS, Microsoft Sans Serif, Arimo`,
  'Liberation Sans Narrow': names`Arial Narrow, Helvetica Narrow`,
  'Liberation Serif': names`Times New Roman, Times, Tinos`,
  'Liberation Mono': names`Courier New, Courier, Cousine`,
  Carlito: names`Calibri, Calibri Light`,
  Caladea: names`Cambria, Cambria Math`,
  'DejaVu Sans': names`Verdana, Tahoma, Lucida Sans Unicode`,
  'DejaVu Sans Mono': names`Consolas, Menlo, Monaco, SFMono-Regular`,
  OpenSymbol: names`Wingdings, Wingdings 2, Wingdings 3, Webdings, Segoe UI Symbol`,
  // LibreOffice draws text in these scripts correctly only with a font that covers them, not with a fallback.
  'Noto Sans Khmer': names`
    Khmer UI, DaunPenh, MoolBoran, Khmer MN, Khmer Sangam MN, Noto Serif Khmer, Khmer OS, Khmer OS System,
    Khmer OS Battambang, Khmer OS Siemreap, Khmer OS Content, Khmer OS Muol, Khmer OS Muol Light, Khmer OS Bokor,
    Khmer OS Freehand, Khmer OS Metal Chrieng, Battambang, Hanuman, Kantumruy, Moul, Siemreap
  `,
  'Noto Sans Myanmar': names`
    Myanmar Text, Myanmar MN, Myanmar Sangam MN, Myanmar3, Myanmar2, Noto Serif Myanmar, Padauk, Padauk Book,
    Pyidaungsu, Masterpiece Uni Sans, Tharlon
  `,
  // Their Latin letters are also half as wide as an ideograph.
  [JAPANESE]: names`MS Gothic, ＭＳ ゴシック, MS Mincho, ＭＳ 明朝, IPAGothic, IPAMincho, TakaoGothic`,
  'Noto Color Emoji': names`Apple Color Emoji, Segoe UI Emoji, Twemoji Mozilla, Noto Emoji, emoji`,
  'WenQuanYi Micro Hei': names`
    SimSun, NSimSun, SimHei, Microsoft YaHei, KaiTi, FangSong, DengXian, PingFang SC, PMingLiU, MingLiU,
    Microsoft JhengHei, PingFang TC, Noto Sans CJK SC, Noto Sans CJK TC, MS PGothic, ＭＳ Ｐゴシック, MS UI Gothic,
    MS PMincho, ＭＳ Ｐ明朝, Yu Gothic, YuGothic, 游ゴシック, Yu Gothic UI, Yu Mincho, YuMincho, 游明朝, Meiryo,
    メイリオ, Meiryo UI, Hiragino Sans, Hiragino Kaku Gothic ProN, Hiragino Mincho ProN, Noto Sans JP, Noto Serif JP,
    Noto Sans CJK JP, Noto Serif CJK JP, Source Han Sans JP, IPAPGothic, IPAexGothic, IPAexMincho, TakaoPGothic,
    Malgun Gothic, Batang, Gulim, Dotum, Noto Sans CJK KR, Noto Sans CJK, Source Han Sans
  `,
};

/** Substitutes only for web pages, because documents have closer ones. */
export const STANDS_FOR_IN_PAGES: Substitutes = {
  'Liberation Sans': names`Segoe UI, Trebuchet MS`,
  'Liberation Serif': names`Georgia, Garamond, Palatino Linotype, Book Antiqua`,
  'Liberation Mono': names`Lucida Console`,
  Carlito: names`Candara, Corbel, Aptos`,
  Caladea: names`Constantia`,
  OpenSymbol: names`Symbol`,
};

/** Other names of fonts that have a stand-in. */
export const ALSO_CALLED: Substitutes = {
  SimSun: names`宋体, STSong, 华文宋体, 华文中宋, STZhongsong, Songti SC, SimSun-ExtB`,
  NSimSun: names`新宋体`,
  SimHei: names`黑体, STHeiti, 华文黑体, 华文细黑, STXihei, Heiti SC`,
  FangSong: names`仿宋, 仿宋_GB2312, FangSong_GB2312, STFangsong, 华文仿宋`,
  KaiTi: names`楷体, 楷体_GB2312, KaiTi_GB2312, STKaiti, 华文楷体, DFKai-SB, 標楷體, BiauKai`,
  'Microsoft YaHei': names`微软雅黑, Microsoft YaHei UI, Microsoft YaHei Light`,
  DengXian: names`等线, 等线 Light, DengXian Light`,
  'Microsoft JhengHei': names`微軟正黑體, Microsoft JhengHei UI`,
  MingLiU: names`細明體`,
  PMingLiU: names`新細明體`,
  'MS Mincho': names`ＭＳ 明朝`,
  'MS PMincho': names`ＭＳ Ｐ明朝`,
  'MS Gothic': names`ＭＳ ゴシック`,
  'MS PGothic': names`ＭＳ Ｐゴシック`,
  Meiryo: names`メイリオ, Meiryo UI`,
  'Yu Gothic': names`游ゴシック, YuGothic, Yu Gothic UI, Yu Gothic Light, 游ゴシック Light, Yu Gothic Medium`,
  'Yu Mincho': names`游明朝, YuMincho, Yu Mincho Light, Yu Mincho Demibold`,
  'Malgun Gothic': names`맑은 고딕, Malgun Gothic Semilight`,
  Batang: names`바탕`,
  BatangChe: names`바탕체`,
  Gulim: names`굴림`,
  GulimChe: names`굴림체`,
  Dotum: names`돋움`,
  DotumChe: names`돋움체`,
  'Segoe UI': names`Segoe UI Light, Segoe UI Semilight, Segoe UI Semibold, Selawik`,
  Aptos: names`Aptos Light, Aptos SemiBold, Bierstadt`,
  Georgia: names`Gelasio`,
  Cambria: names`Cambria Math`,
};

/**
 * The families that documents use most, by the substitute of the same kind with the closest widths. Variants such as
 * "Lato Light" start with the same name.
 */
export const NEAREST: Substitutes = {
  'Liberation Serif': names`
    Garamond, EB Garamond, Adobe Garamond Pro, Cormorant, Cormorant Garamond, Centaur, Crimson Text, Crimson Pro,
    Neuton, Minion Pro, Perpetua, Baskerville, Baskerville Old Face, Big Caslon, Adobe Caslon Pro, Didot,
    Californian FB, High Tower Text, Goudy Old Style, Bembo, Sabon, Cochin, Poor Richard, Latin Modern Roman,
    Computer Modern, CMU Serif, STIX, Linux Libertine, Nimbus Roman, FreeSerif, TeX Gyre Termes, Junicode,
    Doulos SIL, MS Serif, Angsana New, AngsanaUPC, Traditional Arabic, David, Frank Ruehl, Miriam, Sylfaen
  `,
  Caladea: names`
    Georgia, Constantia, Palatino, Palatino Linotype, Book Antiqua, TeX Gyre Pagella, Charter, Century,
    Century Schoolbook, Hoefler Text, Iowan Old Style, Playfair Display, PT Serif, Vollkorn, Spectral, Cardo,
    Old Standard, Josefin Slab, Rokkitt, Rockwell, Zilla Slab, DM Serif, Frank Ruhl Libre, Gelasio, Newsreader,
    Gentium, Charis SIL, Sorts Mill Goudy, Utopia, Bodoni MT, Calisto MT, Bell MT, Footlight MT, Modern No. 20,
    Lucida Bright, Lucida Fax
  `,
  'DejaVu Serif': names`
    Bookman Old Style, Roboto Slab, Merriweather, Lora, Noto Serif, Droid Serif, Bitter, Libre Baskerville, Arvo,
    Domine, Source Serif, IBM Plex Serif, Cinzel, Literata, Fraunces, Prata, Noticia Text, Libre Caslon, Clarendon,
    Elephant, Cooper Black, Copperplate
  `,
  'Liberation Sans Narrow': names`
    Barlow Condensed, Oswald, PT Sans Narrow, Dosis, Archivo Narrow, Abel, Bebas, Teko, Yanone Kaffeesatz,
    Encode Sans Condensed, Saira Condensed, Agency FB, Franklin Gothic Medium Cond, Bahnschrift Condensed,
    League Gothic, Gill Sans MT Condensed, Brush Script, Dancing Script, Caveat, Patrick Hand, Aptos Narrow,
    Tw Cen MT Condensed
  `,
  Carlito: names`
    Aptos Display, Candara, Corbel, Source Sans, Roboto Condensed, Titillium, Cabin, Catamaran, Fira Sans Condensed,
    IBM Plex Sans Condensed, Assistant, Jost, Signika, Tajawal, Cairo, Almarai, Acme, Anton, Fjalla One,
    Francois One, Didact Gothic, League Spartan, Lobster, Pacifico, Gill Sans, Tw Cen MT, Josefin Sans, Lato, Aptos,
    Myriad, Frutiger, Maiandra GD, Segoe Print, Segoe Script, Ink Free, Cordia New, Browallia New, TH Sarabun, Eras,
    Optima
  `,
  'DejaVu Sans': names`
    Montserrat, Poppins, Noto Sans, Inter, Work Sans, Comfortaa, Space Grotesk, Lexend, Sora, Be Vietnam, Prompt,
    Varela, Righteous, ABeeZee, Merriweather Sans, Sen, Tenor Sans, Lucida Grande, Lucida Sans, Geneva, Droid Sans,
    Bitstream Vera Sans, Segoe UI Black, Arial Black, Aptos Black, Aptos ExtraBold, Copperplate Gothic
  `,
  'Liberation Sans': names`Century Gothic, Monotype Corsiva, MS Sans Serif, Noto Sans Display, Didact Gothic`,
  'Liberation Mono': names`Lucida Console, Lucida Sans Typewriter, Andale Mono, American Typewriter, Terminal`,
  'DejaVu Sans Mono': names`Source Code, Fira Code, Cascadia, Inconsolata, Droid Sans Mono, Noto Sans Mono, Hack`,
};

/**
 * Parts of names that indicate the kind of a font. Later ones take precedence, as in "MS Sans Serif" and "Sans Mono".
 */
export const PARTS: ReadonlyArray<readonly [face: string, parts: readonly string[]]> = [
  [
    'Liberation Serif',
    names`Serif, Slab, Roman, Times, Garamond, Antiqua, Baskerville, Bodoni, Caslon, Goudy`,
  ],
  ['Liberation Sans', names`Sans, Gothic, Grotesk, Grotesque, Helvetica, Display UI`],
  ['Liberation Sans Narrow', ['Condensed', 'Narrow', ' Cond']],
  ['Liberation Mono', ['Mono', 'Courier', 'Typewriter', ' Code', 'Consol']],
];

/**
 * Faces for letters that a substitute lacks, by language. DejaVu Sans covers Arabic, but its letters are much wider
 * than those of Office fonts.
 */
export const LANGUAGES: Substitutes = {
  'Noto Sans Arabic': ['ar', 'fa', 'ur', 'ps', 'ug', 'ku'],
  'WenQuanYi Micro Hei': ['zh', 'ja', 'ko'],
};

export const GENERIC: Readonly<Record<string, string>> = {
  'sans-serif': 'Liberation Sans',
  serif: 'Liberation Serif',
  monospace: 'Liberation Mono',
  'system-ui': 'Liberation Sans',
  cursive: 'Caladea',
  fantasy: 'Liberation Sans',
};

/** Faces to search for characters that the chosen font lacks, in this order. */
export const FALLBACK = ['DejaVu Sans', 'WenQuanYi Micro Hei', 'Noto Color Emoji'];

/** Splits a comma-separated list of names. */
function names(list: TemplateStringsArray): readonly string[] {
  return list
    .join('')
    .split(',')
    .map((name) => name.trim());
}
