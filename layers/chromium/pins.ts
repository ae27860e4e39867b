/** The npm package that contains the browser, and the files to use from it. */
export const PINS = {
  package: '@sparticuz/chromium',
  version: '153.0.0',
  binary: 'chromium',
  /** NSS and related libraries. Only glibc and libgcc come from the system. */
  libraries: 'al2023.tar',
  /** Draws WebGL without a GPU. */
  swiftshader: 'swiftshader.tar',
  suite: 'trixie',
  /**
   * Patterns by which words may be divided, by Chromium's name of the language: a Debian package, and the locale of its file.
   * Chromium's own releases contain them, too. Those of Hungarian do not fit the format.
   */
  hyphenation: {
    af: 'hyphen-af af_ZA',
    as: 'hyphen-as as_IN',
    be: 'hyphen-be be_BY',
    bg: 'hyphen-bg bg_BG',
    bn: 'hyphen-bn bn_IN',
    cs: 'hyphen-cs cs_CZ',
    da: 'hyphen-da da_DK',
    'de-1996': 'hyphen-de de_DE',
    el: 'hyphen-el el_GR',
    'en-gb': 'hyphen-en-gb en_GB',
    'en-us': 'hyphen-en-us en_US',
    es: 'hyphen-es es_ES',
    fr: 'hyphen-fr fr',
    gl: 'hyphen-gl gl_ES',
    gu: 'hyphen-gu gu_IN',
    hi: 'hyphen-hi hi_IN',
    hr: 'hyphen-hr hr_HR',
    it: 'hyphen-it it_IT',
    kn: 'hyphen-kn kn_IN',
    lt: 'hyphen-lt lt_LT',
    lv: 'hyphen-lv lv_LV',
    ml: 'hyphen-ml ml_IN',
    'mn-cyrl': 'hyphen-mn mn_MN',
    mr: 'hyphen-mr mr_IN',
    nl: 'hyphen-nl nl_NL',
    or: 'hyphen-or or_IN',
    pa: 'hyphen-pa pa_IN',
    pt: 'hyphen-pt-br pt_BR',
    ru: 'hyphen-ru ru_RU',
    sk: 'hyphen-sk sk_SK',
    sl: 'hyphen-sl sl_SI',
    sv: 'hyphen-sv sv_SE',
    ta: 'hyphen-ta ta_IN',
    te: 'hyphen-te te_IN',
    uk: 'hyphen-uk uk_UA',
  },
  // The font in the package is not used; see layers/fonts.
} as const;
