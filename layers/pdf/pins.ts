/** Packages of the PDF engines. Versions are the newest of the suite and are recorded in `manifest.json`. */
export const PINS = {
  suite: 'trixie',
  packages: [
    'libqpdf30',
    'libjpeg62-turbo',
    'libdeflate0',
    'libtiff6',
    // Parses the requests.
    'libyyjson0',
    // Needed by libpdfiumlo.so; see below.
    'liblcms2-2',
    'libicu76',
    'libopenjp2-7',
    'libabsl20240722',
    'libfreetype6',
  ],
  /** The package with PDFium. It is unpacked without its 200 dependencies, which are LibreOffice's. */
  pdfium: { package: 'libreoffice-core-nogui', path: 'usr/lib/libreoffice/program/libpdfiumlo.so' },
  /** Packages with headers for the engines, besides those of the C library. */
  headers: ['libqpdf-dev', 'libjpeg62-turbo-dev', 'libdeflate-dev', 'libtiff-dev', 'libyyjson-dev'],
} as const;
