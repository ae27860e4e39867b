/** Has the Japanese forms of ideographs, where the other fonts have the Chinese ones. */
const JAPANESE = 'MotoyaLCedar';

/** Substitutes for fonts that documents and pages name. In the first group, every glyph has the same width. */
const STANDS_FOR: Readonly<Record<string, readonly string[]>> = {
  'Liberation Sans': [
    'Arial',
    'Helvetica',
    'Arial Unicode MS',
    'Segoe UI',
    'Trebuchet MS',
    'Microsoft Sans Serif',
  ],
  'Liberation Sans Narrow': ['Arial Narrow', 'Helvetica Narrow'],
  'Liberation Serif': [
    'Times New Roman',
    'Times',
    'Georgia',
    'Garamond',
    'Palatino Linotype',
    'Book Antiqua',
  ],
  'Liberation Mono': ['Courier New', 'Courier', 'Lucida Console'],
  Carlito: ['Calibri', 'Calibri Light', 'Candara', 'Corbel', 'Aptos'],
  Caladea: ['Cambria', 'Constantia'],
  'DejaVu Sans': ['Verdana', 'Tahoma', 'Lucida Sans Unicode', 'Cambria Math'],
  'DejaVu Sans Mono': ['Consolas', 'Menlo', 'Monaco', 'SFMono-Regular'],
  OpenSymbol: ['Wingdings', 'Wingdings 2', 'Wingdings 3', 'Webdings', 'Symbol', 'Segoe UI Symbol'],
  // LibreOffice draws text of these scripts correctly only in a font that covers them, not as a fallback.
  'Noto Sans Khmer': [
    ...['Khmer UI', 'DaunPenh', 'MoolBoran', 'Khmer MN', 'Khmer Sangam MN', 'Noto Serif Khmer'],
    ...['Khmer OS', 'Khmer OS System', 'Khmer OS Battambang', 'Khmer OS Siemreap', 'Khmer OS Content'],
    ...[
      'Khmer OS Muol',
      'Khmer OS Muol Light',
      'Khmer OS Bokor',
      'Khmer OS Freehand',
      'Khmer OS Metal Chrieng',
    ],
    ...['Battambang', 'Hanuman', 'Kantumruy', 'Moul', 'Siemreap'],
  ],
  'Noto Sans Myanmar': [
    ...['Myanmar Text', 'Myanmar MN', 'Myanmar Sangam MN', 'Myanmar3', 'Myanmar2', 'Noto Serif Myanmar'],
    ...['Padauk', 'Padauk Book', 'Pyidaungsu', 'Masterpiece Uni Sans', 'Tharlon'],
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
    ...['SimSun', 'NSimSun', 'SimHei', 'Microsoft YaHei', 'KaiTi', 'FangSong', 'DengXian', 'PingFang SC'],
    ...['PMingLiU', 'MingLiU', 'Microsoft JhengHei', 'PingFang TC', 'Noto Sans CJK SC', 'Noto Sans CJK TC'],
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
    ...['Malgun Gothic', 'Batang', 'Gulim', 'Dotum', 'Noto Sans CJK KR', 'Noto Sans CJK', 'Source Han Sans'],
  ],
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
 * itself, the cache below `XDG_CACHE_HOME`. Consumers set what `fontEnvironment` in `functions/engines/worker/fonts.ts`
 * returns: `FONTCONFIG_FILE=<layers>/fonts/fonts.conf` and a private `XDG_CACHE_HOME`.
 */
export function fontsConfiguration(): string {
  const standIns = Object.entries(STANDS_FOR).flatMap(([face, families]) =>
    families.map((family) => alias(family, 'accept', [face], ' binding="same"')),
  );
  const generics = Object.entries(GENERIC).map(([family, face]) =>
    alias(family, 'prefer', [face, ...FALLBACK]),
  );
  return [
    '<?xml version="1.0"?>',
    '<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">',
    '<fontconfig>',
    '<dir prefix="relative">faces</dir>',
    '<cachedir prefix="xdg">fontconfig</cachedir>',
    ...standIns,
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
