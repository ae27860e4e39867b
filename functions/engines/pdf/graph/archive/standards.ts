/** The standards for archives (ISO 19005) that a PDF can be made to follow. */
export const STANDARDS = ['PDF/A-1b', 'PDF/A-2b', 'PDF/A-2u', 'PDF/A-3b', 'PDF/A-3u', 'PDF/A-4'] as const;
/** The standard for accessible documents (ISO 14289). */
export const ACCESSIBLE = 'PDF/UA-1';
export type Standard = (typeof STANDARDS)[number] | typeof ACCESSIBLE;

export interface Level {
  /** The part of ISO 19005. 0 if the document is not for archives. */
  readonly part: 0 | 1 | 2 | 3 | 4;
  /** Whether all text must be readable as Unicode. */
  readonly isUnicode: boolean;
  /** Whether screen readers must be able to read the document. */
  readonly isAccessible: boolean;
}

/** Returns the standard that a value of `--pdf-version` names, if it is one. */
export function readStandard(value: string | undefined): Standard | undefined {
  if (value === 'PDF/UA') return ACCESSIBLE;
  return [...STANDARDS, ACCESSIBLE].find((known): known is Standard => known === value);
}

export function levelOf(standard: Standard): Level {
  const isAccessible = standard === ACCESSIBLE;
  const part = isAccessible ? 0 : (Number(standard[6]) as Level['part']);
  return { part, isUnicode: isAccessible || standard.endsWith('u'), isAccessible };
}
