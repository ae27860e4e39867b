/** The browser comes from the npm package that `package.json` pins; what is taken of it. */
export const PINS = {
  package: '@sparticuz/chromium',
  version: '153.0.0',
  binary: 'chromium',
  /** NSS and friends, so that no system library but glibc and libgcc is needed. */
  libraries: 'al2023.tar',
  /** Draws WebGL without a GPU. */
  swiftshader: 'swiftshader.tar',
  // Not taken: its one font. Ours are in layers/fonts.
} as const;
