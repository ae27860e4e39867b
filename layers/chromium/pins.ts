/** The npm package that contains the browser, and what is used of it. */
export const PINS = {
  package: '@sparticuz/chromium',
  version: '153.0.0',
  binary: 'chromium',
  /** NSS and related libraries. Of the system, only glibc and libgcc are needed. */
  libraries: 'al2023.tar',
  /** Draws WebGL without a GPU. */
  swiftshader: 'swiftshader.tar',
  // Its font is not used: see layers/fonts.
} as const;
