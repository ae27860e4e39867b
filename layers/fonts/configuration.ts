import { STAND_INS, standInName } from './stand-ins.ts';

/** Has the Japanese forms of ideographs, where the other fonts have the Chinese ones. */
const JAPANESE = 'MotoyaLCedar';

/**
 * Substitutes for fonts that documents and pages name. In the first group, every glyph has the same width, in the others most
 * nearly so.
 */
const STANDS_FOR: Readonly<Record<string, readonly string[]>> = {
  'Liberation Sans': ['Arial', 'Helvetica', 'Arial Unicode MS', 'Microsoft Sans Serif', 'Arimo'],
  'Liberation Sans Narrow': ['Arial Narrow', 'Helvetica Narrow'],
  'Liberation Serif': ['Times New Roman', 'Times', 'Tinos'],
  'Liberation Mono': ['Courier New', 'Courier', 'Cousine'],
  Carlito: ['Calibri', 'Calibri Light'],
  Caladea: ['Cambria', 'Cambria Math'],
  'DejaVu Sans': ['Verdana', 'Tahoma', 'Lucida Sans Unicode'],
  'DejaVu Sans Mono': ['Consolas', 'Menlo', 'Monaco', 'SFMono-Regular'],
  OpenSymbol: ['Wingdings', 'Wingdings 2', 'Wingdings 3', 'Webdings', 'Symbol', 'Segoe UI Symbol'],
  // LibreOffice draws text of these scripts correctly only in a font that covers them, not as a fallback.
  'Noto Sans Khmer': [
    'Khmer UI',
    'DaunPenh',
    'MoolBoran',
    'Khmer MN',
    'Khmer Sangam MN',
    'Noto Serif Khmer',
    'Khmer OS',
    'Khmer OS System',
    'Khmer OS Battambang',
    'Khmer OS Siemreap',
    'Khmer OS Content',
    ...[
      'Khmer OS Muol',
      'Khmer OS Muol Light',
      'Khmer OS Bokor',
      'Khmer OS Freehand',
      'Khmer OS Metal Chrieng',
    ],
    'Battambang',
    'Hanuman',
    'Kantumruy',
    'Moul',
    'Siemreap',
  ],
  'Noto Sans Myanmar': [
    'Myanmar Text',
    'Myanmar MN',
    'Myanmar Sangam MN',
    'Myanmar3',
    'Myanmar2',
    'Noto Serif Myanmar',
    'Padauk',
    'Padauk Book',
    'Pyidaungsu',
    'Masterpiece Uni Sans',
    'Tharlon',
  ],
  // Their Latin letters are as wide as half an ideograph, too.
  [JAPANESE]: [
    'MS Gothic',
    'ＭＳ ゴシック',
    'MS Mincho',
    'ＭＳ 明朝',
    'IPAGothic',
    'IPAMincho',
    'TakaoGothic',
  ],
  'Noto Color Emoji': ['Apple Color Emoji', 'Segoe UI Emoji', 'Twemoji Mozilla', 'Noto Emoji', 'emoji'],
  'WenQuanYi Micro Hei': [
    'SimSun',
    'NSimSun',
    'SimHei',
    'Microsoft YaHei',
    'KaiTi',
    'FangSong',
    'DengXian',
    'PingFang SC',
    'PMingLiU',
    'MingLiU',
    'Microsoft JhengHei',
    'PingFang TC',
    'Noto Sans CJK SC',
    'Noto Sans CJK TC',
    ...[
      'MS PGothic',
      'ＭＳ Ｐゴシック',
      'MS UI Gothic',
      'MS PMincho',
      'ＭＳ Ｐ明朝',
      'Yu Gothic',
      'YuGothic',
      '游ゴシック',
    ],
    ...[
      'Yu Gothic UI',
      'Yu Mincho',
      'YuMincho',
      '游明朝',
      'Meiryo',
      'メイリオ',
      'Meiryo UI',
      'Hiragino Sans',
    ],
    ...[
      'Hiragino Kaku Gothic ProN',
      'Hiragino Mincho ProN',
      'Noto Sans JP',
      'Noto Serif JP',
      'Noto Sans CJK JP',
    ],
    ...[
      'Noto Serif CJK JP',
      'Source Han Sans JP',
      'IPAPGothic',
      'IPAexGothic',
      'IPAexMincho',
      'TakaoPGothic',
    ],
    'Malgun Gothic',
    'Batang',
    'Gulim',
    'Dotum',
    'Noto Sans CJK KR',
    'Noto Sans CJK',
    'Source Han Sans',
  ],
};

/** The same for web pages only, because documents have substitutes that are nearer. */
const STANDS_FOR_IN_PAGES: typeof STANDS_FOR = {
  'Liberation Sans': ['Segoe UI', 'Trebuchet MS'],
  'Liberation Serif': ['Georgia', 'Garamond', 'Palatino Linotype', 'Book Antiqua'],
  'Liberation Mono': ['Lucida Console'],
  Carlito: ['Candara', 'Corbel', 'Aptos'],
  Caladea: ['Constantia'],
};

/** Other names of fonts that have a stand-in. */
const ALSO_CALLED: Readonly<Record<string, readonly string[]>> = {
  SimSun: ['宋体', 'STSong', '华文宋体', '华文中宋', 'STZhongsong', 'Songti SC', 'SimSun-ExtB'],
  NSimSun: ['新宋体'],
  SimHei: ['黑体', 'STHeiti', '华文黑体', '华文细黑', 'STXihei', 'Heiti SC'],
  FangSong: ['仿宋', '仿宋_GB2312', 'FangSong_GB2312', 'STFangsong', '华文仿宋'],
  KaiTi: ['楷体', '楷体_GB2312', 'KaiTi_GB2312', 'STKaiti', '华文楷体', 'DFKai-SB', '標楷體', 'BiauKai'],
  'Microsoft YaHei': ['微软雅黑', 'Microsoft YaHei UI', 'Microsoft YaHei Light'],
  DengXian: ['等线', '等线 Light', 'DengXian Light'],
  'Microsoft JhengHei': ['微軟正黑體', 'Microsoft JhengHei UI'],
  MingLiU: ['細明體'],
  PMingLiU: ['新細明體'],
  'MS Mincho': ['ＭＳ 明朝'],
  'MS PMincho': ['ＭＳ Ｐ明朝'],
  'MS Gothic': ['ＭＳ ゴシック'],
  'MS PGothic': ['ＭＳ Ｐゴシック'],
  Meiryo: ['メイリオ', 'Meiryo UI'],
  'Yu Gothic': [
    '游ゴシック',
    'YuGothic',
    'Yu Gothic UI',
    'Yu Gothic Light',
    '游ゴシック Light',
    'Yu Gothic Medium',
  ],
  'Yu Mincho': ['游明朝', 'YuMincho', 'Yu Mincho Light', 'Yu Mincho Demibold'],
  'Malgun Gothic': ['맑은 고딕', 'Malgun Gothic Semilight'],
  Batang: ['바탕'],
  BatangChe: ['바탕체'],
  Gulim: ['굴림'],
  GulimChe: ['굴림체'],
  Dotum: ['돋움'],
  DotumChe: ['돋움체'],
  'Segoe UI': ['Segoe UI Light', 'Segoe UI Semilight', 'Segoe UI Semibold', 'Selawik'],
  Aptos: ['Aptos Light', 'Aptos SemiBold', 'Bierstadt'],
  Georgia: ['Gelasio'],
  Cambria: ['Cambria Math'],
};

/**
 * Families that documents use most, by the substitute of their kind that is nearest in width. Variants such as "Lato Light" begin
 * with the same name.
 */
const NEAREST: Readonly<Record<string, readonly string[]>> = {
  'Liberation Serif': [
    'Garamond',
    'EB Garamond',
    'Adobe Garamond Pro',
    'Cormorant',
    'Cormorant Garamond',
    'Centaur',
    ...[
      'Crimson Text',
      'Crimson Pro',
      'Neuton',
      'Minion Pro',
      'Perpetua',
      'Baskerville',
      'Baskerville Old Face',
    ],
    'Big Caslon',
    'Adobe Caslon Pro',
    'Didot',
    'Californian FB',
    'High Tower Text',
    'Goudy Old Style',
    ...[
      'Bembo',
      'Sabon',
      'Cochin',
      'Poor Richard',
      'Latin Modern Roman',
      'Computer Modern',
      'CMU Serif',
      'STIX',
    ],
    ...[
      'Linux Libertine',
      'Nimbus Roman',
      'FreeSerif',
      'TeX Gyre Termes',
      'Junicode',
      'Doulos SIL',
      'MS Serif',
    ],
    'Angsana New',
    'AngsanaUPC',
    'Traditional Arabic',
    'David',
    'Frank Ruehl',
    'Miriam',
    'Sylfaen',
  ],
  Caladea: [
    ...[
      'Georgia',
      'Constantia',
      'Palatino',
      'Palatino Linotype',
      'Book Antiqua',
      'TeX Gyre Pagella',
      'Charter',
    ],
    ...[
      'Century',
      'Century Schoolbook',
      'Hoefler Text',
      'Iowan Old Style',
      'Playfair Display',
      'PT Serif',
      'Vollkorn',
    ],
    'Spectral',
    'Cardo',
    'Old Standard',
    'Josefin Slab',
    'Rokkitt',
    'Rockwell',
    'Zilla Slab',
    'DM Serif',
    'Frank Ruhl Libre',
    'Gelasio',
    'Newsreader',
    'Gentium',
    'Charis SIL',
    'Sorts Mill Goudy',
    'Utopia',
    'Bodoni MT',
    'Calisto MT',
    'Bell MT',
    'Footlight MT',
    'Modern No. 20',
    'Lucida Bright',
    'Lucida Fax',
  ],
  'DejaVu Serif': [
    'Bookman Old Style',
    'Roboto Slab',
    'Merriweather',
    'Lora',
    'Noto Serif',
    'Droid Serif',
    'Bitter',
    ...[
      'Libre Baskerville',
      'Arvo',
      'Domine',
      'Source Serif',
      'IBM Plex Serif',
      'Cinzel',
      'Literata',
      'Fraunces',
    ],
    'Prata',
    'Noticia Text',
    'Libre Caslon',
    'Clarendon',
    'Elephant',
    'Cooper Black',
    'Copperplate',
  ],
  'Liberation Sans Narrow': [
    'Barlow Condensed',
    'Oswald',
    'PT Sans Narrow',
    'Dosis',
    'Archivo Narrow',
    'Abel',
    'Bebas',
    'Teko',
    'Yanone Kaffeesatz',
    'Encode Sans Condensed',
    'Saira Condensed',
    'Agency FB',
    'Franklin Gothic Medium Cond',
    'Bahnschrift Condensed',
    'League Gothic',
    'Gill Sans MT Condensed',
    'Brush Script',
    'Dancing Script',
    'Caveat',
    'Patrick Hand',
    'Aptos Narrow',
    'Tw Cen MT Condensed',
  ],
  Carlito: [
    ...[
      'Aptos Display',
      'Candara',
      'Corbel',
      'Source Sans',
      'Roboto Condensed',
      'Titillium',
      'Cabin',
      'Catamaran',
    ],
    'Fira Sans Condensed',
    'IBM Plex Sans Condensed',
    'Assistant',
    'Jost',
    'Signika',
    'Tajawal',
    'Cairo',
    ...[
      'Almarai',
      'Acme',
      'Anton',
      'Fjalla One',
      'Francois One',
      'Didact Gothic',
      'League Spartan',
      'Lobster',
    ],
    ...[
      'Pacifico',
      'Gill Sans',
      'Tw Cen MT',
      'Josefin Sans',
      'Lato',
      'Aptos',
      'Myriad',
      'Frutiger',
      'Maiandra GD',
    ],
    ...[
      'Segoe Print',
      'Segoe Script',
      'Ink Free',
      'Cordia New',
      'Browallia New',
      'TH Sarabun',
      'Eras',
      'Optima',
    ],
  ],
  'DejaVu Sans': [
    ...[
      'Montserrat',
      'Poppins',
      'Noto Sans',
      'Inter',
      'Work Sans',
      'Comfortaa',
      'Space Grotesk',
      'Lexend',
      'Sora',
    ],
    'Be Vietnam',
    'Prompt',
    'Varela',
    'Righteous',
    'ABeeZee',
    'Merriweather Sans',
    'Sen',
    'Tenor Sans',
    ...[
      'Lucida Grande',
      'Lucida Sans',
      'Geneva',
      'Droid Sans',
      'Bitstream Vera Sans',
      'Segoe UI Black',
      'Arial Black',
    ],
    'Aptos Black',
    'Aptos ExtraBold',
    'Copperplate Gothic',
  ],
  'Liberation Sans': [
    'Century Gothic',
    'Monotype Corsiva',
    'MS Sans Serif',
    'Noto Sans Display',
    'Didact Gothic',
  ],
  'Liberation Mono': [
    'Lucida Console',
    'Lucida Sans Typewriter',
    'Andale Mono',
    'American Typewriter',
    'Terminal',
  ],
  'DejaVu Sans Mono': [
    'Source Code',
    'Fira Code',
    'Cascadia',
    'Inconsolata',
    'Droid Sans Mono',
    'Noto Sans Mono',
    'Hack',
  ],
};

/** Parts of names that tell the kind of a font. Later ones take precedence, as in "MS Sans Serif" and "Sans Mono". */
const PARTS: ReadonlyArray<readonly [part: string, face: string]> = [
  ...[
    'Serif',
    'Slab',
    'Roman',
    'Times',
    'Garamond',
    'Antiqua',
    'Baskerville',
    'Bodoni',
    'Caslon',
    'Goudy',
  ].map((part) => [part, 'Liberation Serif'] as const),
  ...['Sans', 'Gothic', 'Grotesk', 'Grotesque', 'Helvetica', 'Display UI'].map(
    (part) => [part, 'Liberation Sans'] as const,
  ),
  ...['Condensed', 'Narrow', ' Cond'].map((part) => [part, 'Liberation Sans Narrow'] as const),
  ...['Mono', 'Courier', 'Typewriter', ' Code', 'Consol'].map((part) => [part, 'Liberation Mono'] as const),
];

/** Faces for letters that a substitute lacks, by language. DejaVu Sans has those of Arabic, but much wider than the fonts of Office. */
const LANGUAGES: Readonly<Record<string, readonly string[]>> = {
  'Noto Sans Arabic': ['ar', 'fa', 'ur', 'ps', 'ug', 'ku'],
  'WenQuanYi Micro Hei': ['zh', 'ja', 'ko'],
};

const GENERIC: Readonly<Record<string, string>> = {
  'sans-serif': 'Liberation Sans',
  serif: 'Liberation Serif',
  monospace: 'Liberation Mono',
  'system-ui': 'Liberation Sans',
  cursive: 'Caladea',
  fantasy: 'Liberation Sans',
};

/** Searched in this order for characters that the chosen font lacks. */
const FALLBACK = ['DejaVu Sans', 'WenQuanYi Micro Hei', 'Noto Color Emoji'];

/** Removes DejaVu's black and white emoji, which would otherwise be preferred over the colored ones. */
const WITHOUT_EMOJI = [
  '<match target="scan"><test name="family"><string>DejaVu Sans</string></test>',
  '<edit name="charset" mode="assign"><minus><name>charset</name><charset>',
  '<range><int>0x1f300</int><int>0x1faff</int></range>',
  '</charset></minus></edit></match>',
].join('\n');

/** Prefers Japanese forms in text that is marked as Japanese. */
const JAPANESE_FORMS = [
  '<match target="pattern"><test name="lang" compare="contains"><string>ja</string></test>',
  '<test name="family"><string>WenQuanYi Micro Hei</string></test>',
  `<edit name="family" mode="prepend" binding="same"><string>${JAPANESE}</string></edit></match>`,
].join('\n');

/**
 * Returns `fonts.conf`. It contains no absolute path, so the layer works in any folder: fonts are found relative to the file
 * itself, the cache below `XDG_CACHE_HOME`. Consumers set what `fontEnvironment` in `functions/engines/worker/sandbox.ts`
 * returns: `FONTCONFIG_FILE=<layers>/fonts/fonts.conf` and a private `XDG_CACHE_HOME`.
 */
export function fontsConfiguration(): string {
  const substitutes = [STANDS_FOR, STANDS_FOR_IN_PAGES].flatMap((each) => Object.entries(each));
  return configuration(substitutes.flatMap(([face, families]) => standIns(families, face)));
}

/**
 * Returns `office.conf`, for programs that ask for one family and not for a list. LibreOffice asks for a name and `serif`, whatever
 * the font is, so that every missing font must have a substitute here.
 */
export function officeConfiguration(): string {
  return configuration([
    // Each rule inserts its substitute right behind the name, so that later ones take precedence.
    substitute(
      '<test qual="first" name="family" compare="not_eq"><string>serif</string></test>',
      'Liberation Sans',
    ),
    substitute(familyTest('any', 'eq', 'monospace'), 'Liberation Mono'),
    ...PARTS.map(([part, face]) => substitute(familyTest('first', 'contains', part), face)),
    ...Object.entries(LANGUAGES).flatMap(([face, languages]) =>
      languages.map((language) =>
        substitute(`<test name="lang" compare="contains"><string>${language}</string></test>`, face),
      ),
    ),
    ...byLength(NEAREST).map(([family, face]) => substitute(familyTest('first', 'contains', family), face)),
    ...Object.entries(STANDS_FOR).flatMap(([face, families]) => standIns(families, face)),
    ...[...new Set(STAND_INS.map(({ family }) => family))].flatMap((family) =>
      standIns([family, ...(ALSO_CALLED[family] ?? [])], standInName(family)),
    ),
  ]);
}

/** The shorter a name, the more fonts contain it, so that longer ones must come later. */
function byLength(families: typeof NEAREST): ReadonlyArray<readonly [family: string, face: string]> {
  return Object.entries(families)
    .flatMap(([face, names]) => names.map((family) => [family, face] as const))
    .sort(([one], [other]) => one.length - other.length);
}

function familyTest(which: 'first' | 'any', compare: 'eq' | 'contains', family: string): string {
  return `<test qual="${which}" name="family" compare="${compare}"><string>${family}</string></test>`;
}

/** Inserts a face behind the first family that the test matches. */
function substitute(test: string, face: string): string {
  const edit = `<edit name="family" mode="append" binding="same"><string>${face}</string></edit>`;
  return `<match target="pattern">${test}${edit}</match>`;
}

function standIns(families: readonly string[], face: string): string[] {
  return families.map((family) => alias(family, 'accept', [face], ' binding="same"'));
}

function configuration(substitutes: readonly string[]): string {
  const generics = Object.entries(GENERIC).map(([family, face]) =>
    alias(family, 'prefer', [face, ...FALLBACK]),
  );
  return [
    '<?xml version="1.0"?>',
    '<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">',
    '<fontconfig>',
    '<dir prefix="relative">faces</dir>',
    '<cachedir prefix="xdg">fontconfig</cachedir>',
    ...substitutes,
    ...generics,
    '<match target="pattern"><edit name="family" mode="append_last">',
    ...['Liberation Sans', ...FALLBACK].map((face) => `<string>${face}</string>`),
    '</edit></match>',
    JAPANESE_FORMS,
    WITHOUT_EMOJI,
    // Gray smoothing and no hinting, so that the layout is the same at every size.
    '<match target="font">',
    '<edit name="antialias" mode="assign"><bool>true</bool></edit>',
    '<edit name="hinting" mode="assign"><bool>false</bool></edit>',
    '<edit name="rgba" mode="assign"><const>none</const></edit>',
    '</match>',
    '</fontconfig>',
    '',
  ].join('\n');
}

function alias(family: string, rank: 'accept' | 'prefer', faces: readonly string[], binding = ''): string {
  const names = faces.map((face) => `<family>${face}</family>`).join('');
  return `<alias${binding}><family>${family}</family><${rank}>${names}</${rank}></alias>`;
}
