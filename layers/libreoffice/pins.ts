/**
 * Packages of LibreOffice, and the parts to leave out. Versions are the newest of the suite and are recorded in the
 * manifest.
 */
export const PINS = {
  suite: 'trixie',
  packages: [
    'libreoffice-writer-nogui',
    'libreoffice-calc-nogui',
    'libreoffice-impress-nogui',
    'libreoffice-math-nogui',
    // LibreOfficeKit opens dialog files while it loads a document with comments, and fails if one is missing.
    'libreoffice-uiconfig-writer',
    'libreoffice-uiconfig-calc',
    'libreoffice-uiconfig-impress',
    'libreoffice-uiconfig-draw',
    'libreoffice-uiconfig-math',
    // Contains the locale without which LibreOffice can only open files with ASCII names.
    'libc-bin',
    // Parses the requests to the host.
    'libyyjson0',
  ],
  /** Languages of the packages with hyphenation patterns. */
  hyphenation:
    'af as be bg bn ca cs da de el en-gb en-us es fr gl gu hi hr hu id is it kn lt lv ml mn mr nl no or pa pl pt-br pt-pt ro ru sk sl sr sv ta te th uk zu',
  /** Packages with headers for `main.c`, besides those of the C library. */
  headers: ['libreofficekit-dev', 'libyyjson-dev'],
  /** Resolved packages that a converter without a screen, printer or administrator does not need. */
  unwanted:
    /^(fonts-|perl|debconf|adduser|passwd|login|coinor-|libgfortran|poppler|libpoppler|ure-java|ucf|python|dictionaries)/,
  /** Parts of `share/` that are for interactive use, and transformations of formats that are not accepted. */
  unwantedShare:
    /^(Scripts|autocorr|autotext|basic|classification|dtd|extensions|fonts|gallery|glade|labels|skia|template|theme_definitions|tipoftheday|toolbarmode|wizards|wordbook|xdg|uno_packages|prereg|psprint|\.registry|xslt\/(export|import\/(spreadsheetml|uof)))$/,
  /**
   * Parts of `program/` that are for interactive use, and import filters of formats that are not accepted (Lotus,
   * Hangul, PDF).
   */
  unwantedProgram:
    /^(classes|gdbtrace|intro.*|java-set-classpath|mailmerge\.py|msgbox\.py|oosplash|opencl.*|opengl|pagein-.*|regview|senddoc|shell|soffice|uno|uno\.bin|unoinfo|unopkg.*|uri-encode|wizards|xpdfimport|lib(lwpft|hwp|t602filter|pdfimport|pcr|acc|slideshow|bib|ucpchelp|ucpcmis|PresentationMinimizer|javavm|javaloader|unopkgapp|lpsolve|solver|scriptframe|LanguageTool|cmdmail|ldapbe2|migrationoo|textconversiondlgs).*\.so)$/,
  /**
   * Libraries that are loaded by name at run time, so that no other library lists them: the cryptography that opens
   * protected documents.
   */
  loadedByName: ['libsoftokn3.so', 'libfreebl3.so', 'libfreeblpriv3.so', 'libnssckbi.so', 'libnssutil3.so'],
} as const;
