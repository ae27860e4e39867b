/** The standards for archives (ISO 19005) that a PDF can be made to follow. */
export const STANDARDS = ['PDF/A-1b', 'PDF/A-2b', 'PDF/A-2u', 'PDF/A-3b', 'PDF/A-3u'] as const;
export type Standard = (typeof STANDARDS)[number];

export interface Level {
  readonly part: 1 | 2 | 3;
  /** Whether all text must be readable as Unicode. */
  readonly isUnicode: boolean;
}

/** Returns the standard that a value of `--pdf-version` names, if it is one for archives. */
export function readStandard(value: string | undefined): Standard | undefined {
  return STANDARDS.find((known) => known === value);
}

export function levelOf(standard: Standard): Level {
  return { part: Number(standard[6]) as Level['part'], isUnicode: standard.endsWith('u') };
}
