import { bulletEdits } from './bullets.ts';
import { chartEdits } from './charts.ts';
import { checkboxEdits, hasCheckboxes } from './checkboxes.ts';
import { readParts, withParts } from './detect/archive.ts';
import { applyEdits, type Edit } from './markup.ts';
import { sheetMarginEdits } from './sheet-margins.ts';

/** Corrects what LibreOffice reads wrongly in parts of a document. */
interface Correction {
  readonly part: RegExp;
  edits(text: string, parts: ReadonlyMap<string, string>): Edit[];
}

const SLIDES = /^ppt\/slides\/slide\d+\.xml$/;
/** Hangul, Kana and ideographs. */
const EAST_ASIAN = /[\u1100-\u11ff\u3040-\u318f\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]/;
const FEATURES = /^xl\/featurePropertyBag\/.+\.xml$/;
const CHARTS: Correction = { part: /^(?:xl|ppt|word)\/charts\/chart\d*\.xml$/, edits: chartEdits };

const WORKBOOK: readonly Correction[] = [
  { part: /^xl\/(?:work|chart)sheets\/.+\.xml$/, edits: sheetMarginEdits },
  {
    part: /^xl\/styles\.xml$/,
    edits: (styles, parts) =>
      [...parts].some(([name, text]) => FEATURES.test(name) && hasCheckboxes(text))
        ? checkboxEdits(styles)
        : [],
  },
  { part: FEATURES, edits: () => [] },
  CHARTS,
];
const PRESENTATION: readonly Correction[] = [{ part: SLIDES, edits: bulletEdits }, CHARTS];

/** Returns the corrections of a kind of document such as `xlsx`. Those of the text of Word documents are in `word/`. */
export function correctionsOf(kind: string): readonly Correction[] {
  if (/^xl[st][xm]$/.test(kind)) return WORKBOOK;
  if (/^do[ct][xm]$/.test(kind)) return [CHARTS];
  return /^p[op][tsp][xm]$/.test(kind) ? PRESENTATION : [];
}

/** A document whose parts were corrected. */
export interface Corrected {
  /** The changed document; `undefined` if nothing needs to change. */
  readonly bytes: Buffer | undefined;
  /** Whether a slide has East Asian text. */
  readonly isEastAsian: boolean;
}

/**
 * Changes a document before LibreOffice reads it. The result is only for PDF, because it is no longer what its author wrote. A part
 * that is not well-formed is left alone.
 */
export async function correct(bytes: Buffer, corrections: readonly Correction[]): Promise<Corrected> {
  if (corrections.length === 0) return { bytes: undefined, isEastAsian: false };
  const parts = await readParts(bytes, (name) => corrections.some(({ part }) => part.test(name)));
  const changed = new Map<string, string>();
  for (const [name, text] of parts) {
    const edits = corrections
      .filter(({ part }) => part.test(name))
      .flatMap((correction) => attempt(() => correction.edits(text, parts)));
    if (edits.length > 0) changed.set(name, applyEdits(text, edits));
  }
  return {
    bytes: changed.size > 0 ? await withParts(bytes, changed) : undefined,
    isEastAsian: [...parts].some(([name, text]) => SLIDES.test(name) && EAST_ASIAN.test(text)),
  };
}

function attempt(edit: () => Edit[]): Edit[] {
  try {
    return edit();
  } catch {
    return [];
  }
}
