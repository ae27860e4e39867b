/** The npm package that contains the browser, and the files to use from it. */
export const PINS = {
  package: '@sparticuz/chromium',
  version: '153.0.0',
  binary: 'chromium',
  /** NSS and related libraries. Only glibc and libgcc come from the system. */
  libraries: 'al2023.tar',
  /** Draws WebGL without a GPU. */
  swiftshader: 'swiftshader.tar',
  // The font in the package is not used; see layers/fonts.
} as const;
