/** Where the PDF engines come from. Versions are the suite's newest; `manifest.json` names them. */
export const PINS = {
  suite: 'trixie',
  packages: ['libqpdf30'],
  /** What the hosts are compiled against, besides the C library. */
  headers: ['libqpdf-dev'],
} as const;
