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
  /** Folders of `/usr/share` with data of other packages that LibreOffice reads. Debian's settings name them. */
  data: ['liblangtag', 'libnumbertext'],
  /**
   * Names the files of the packages that the layer leaves out, without `usr/lib/libreoffice/`, and why. The build fails if
   * another file is missing from the layer.
   */
  leftOut: [
    {
      why: 'is for interactive use',
      files:
        /^(share\/(Scripts|autocorr|autotext|basic|classification|extensions|gallery|glade|labels|template|theme_definitions|tipoftheday|toolbarmode|wizards|wordbook|xdg)|presets)(\/|$)/,
    },
    {
      why: 'describes menus, toolbars and dialogs that no conversion opens; with menu bars and toolbars, a small document takes a third longer',
      files:
        /^share\/config\/(images_.*|soffice\.cfg\/(cui|modules\/(BasicIDE|sglobal|sbibliography)|.*\/notebookbar[^/]*\.ui|modules\/[^/]+\/(menubar|popupmenu|statusbar|toolbar)))(\/|$)/,
    },
    {
      why: 'is for a screen, a printer, a graphics card or an administrator',
      files: /^share\/(fonts|skia|psprint|prereg|uno_packages|\.registry|registry\/.*\.sample)(\/|$)/,
    },
    {
      why: 'transforms formats that are not accepted',
      files: /^share\/(dtd|xslt\/(export|import\/(spreadsheetml|uof)))(\/|$)/,
    },
    {
      why: 'is a program, or a library for interactive use',
      files:
        /^program\/(classes|gdbtrace|intro.*|java-set-classpath|mailmerge\.py|msgbox\.py|oosplash|opencl.*|opengl|pagein-.*|regview|senddoc|shell|soffice|uno|uno\.bin|unoinfo|unopkg.*|uri-encode|wizards|lib(slideshow|bib|ucpchelp|ucpcmis|PresentationMinimizer|javavm|javaloader|pcr|acc|unopkgapp|lpsolve|solver|scriptframe|LanguageTool|cmdmail|ldapbe2|migrationoo|textconversiondlgs).*\.so)(\/|$)/,
    },
    {
      why: 'imports formats that are not accepted: Lotus, Hangul, T602, PDF',
      files: /^program\/(xpdfimport|lib(lwpft|hwp|t602filter|pdfimport).*\.so)$/,
    },
    {
      why: 'belongs to the system: settings, programs, services, documentation',
      files:
        /^(etc|usr\/s?bin|usr\/lib64|usr\/lib\/(locale|emacsen-common|gnupg2?|mime|systemd|tmpfiles\.d)|usr\/share\/(X11|applications|base-passwd|bash-completion|bug|doc|doc-base|emacsen-common|fontconfig|gcc|gdb|gnupg|icons|info|libc-bin|libgcrypt20|libreoffice|lintian|locale|man|mime|pam-configs|perl5|readline|xml)|var)\//,
    },
    {
      why: 'guesses the language of text for spelling',
      files: /^usr\/share\/libexttextcat\//,
    },
    {
      why: 'is copied by `hyphenation.ts`',
      files: /^usr\/share\/(hyphen|myspell)\//,
    },
    {
      why: 'converts encodings that no document has',
      files: /\/gconv\/(?!(gconv-modules.*|lib.*\.so|(ISO8859-|CP125|KOI8-|EUC-|GB|BIG5|SJIS|UHC).*\.so)$)./,
    },
    {
      why: 'is a library that nothing needs, or a module of one that is not used for documents',
      files: /^usr\/lib\/[^/]+-linux-gnu\/(?!gconv(\/|$))/,
    },
    { why: 'informs readers of the package', files: /^(CREDITS\.fodt|LICENSE\.html|NOTICE)$/ },
  ],
  /**
   * Libraries that are loaded by name at run time, so that no other library lists them: the cryptography that opens
   * protected documents.
   */
  loadedByName: ['libsoftokn3.so', 'libfreebl3.so', 'libfreeblpriv3.so', 'libnssckbi.so', 'libnssutil3.so'],
} as const;
