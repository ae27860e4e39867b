/** Where LibreOffice comes from and what of it is left out. Versions are the suite's newest; the manifest names them. */
export const PINS = {
  suite: 'trixie',
  packages: [
    ...['libreoffice-writer-nogui', 'libreoffice-calc-nogui', 'libreoffice-impress-nogui'],
    'libreoffice-math-nogui',
    // LibreOfficeKit opens dialog files while it loads a document with comments, and fails where one is missing.
    ...['libreoffice-uiconfig-writer', 'libreoffice-uiconfig-calc', 'libreoffice-uiconfig-impress'],
    ...['libreoffice-uiconfig-draw', 'libreoffice-uiconfig-math'],
  ],
  /** What `host.c` is compiled against, beside the C library. */
  headers: ['libreofficekit-dev'],
  /** Of the resolved packages, what a converter without a screen, a printer or an administrator has no use for. */
  unwanted:
    /^(fonts-|perl|debconf|adduser|passwd|login|coinor-|libgfortran|poppler|libpoppler|ure-java|ucf|python|dictionaries)/,
  /** Parts of `share/` that only serve people at a screen. */
  unwantedShare: [
    ...[
      'Scripts',
      'autocorr',
      'autotext',
      'basic',
      'classification',
      'dtd',
      'extensions',
      'fonts',
      'gallery',
      'glade',
    ],
    ...[
      'labels',
      'skia',
      'template',
      'theme_definitions',
      'tipoftheday',
      'toolbarmode',
      'wizards',
      'wordbook',
      'xdg',
    ],
    ...['xslt', 'uno_packages', 'prereg', 'psprint', '.registry'],
  ],
  /** Parts of `program/` likewise, and import filters of formats that are not accepted (WordPerfect, Mac, StarOffice, PDF …). */
  unwantedProgram:
    /^(classes|gdbtrace|intro.*|java-set-classpath|mailmerge\.py|msgbox\.py|oosplash|opencl.*|opengl|pagein-.*|regview|senddoc|shell|soffice|uno|uno\.bin|unoinfo|unopkg.*|uri-encode|wizards|xpdfimport|lib(lwpft|hwp|t602filter|wpft(calc|draw|impress|writer)|pdfimport|pcr|acc|slideshow|bib|ucpchelp|ucpcmis|PresentationMinimizer|javavm|javaloader|unopkgapp|lpsolve|solver|scriptframe|LanguageTool|cmdmail|ldapbe2|migrationoo|textconversiondlgs|writerperfect).*\.so)$/,
  /** Loaded by name at run time, so no other library lists them: the cryptography that opens protected documents. */
  loadedByName: ['libsoftokn3.so', 'libfreebl3.so', 'libfreeblpriv3.so', 'libnssckbi.so', 'libnssutil3.so'],
} as const;
