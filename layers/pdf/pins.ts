/** Where the PDF engines come from. Versions are the newest of the suite and are recorded in `manifest.json`. */
export const PINS = {
  suite: 'trixie',
  packages: [
    'libqpdf30',
    'libjpeg62-turbo',
    'libdeflate0',
    'libtiff6',
    // Reads the requests.
    'libyyjson0',
    // Needed by libpdfiumlo.so, see below.
    'liblcms2-2',
    'libicu76',
    'libopenjp2-7',
    'libabsl20240722',
    'libfreetype6',
  ],
  /** Contains PDFium. It is unpacked without its 200 dependencies, which are LibreOffice's. */
  pdfium: { package: 'libreoffice-core-nogui', path: 'usr/lib/libreoffice/program/libpdfiumlo.so' },
  /** Headers for the hosts, besides those of the C library. */
  headers: ['libqpdf-dev', 'libjpeg62-turbo-dev', 'libdeflate-dev', 'libtiff-dev', 'libyyjson-dev'],
} as const;
