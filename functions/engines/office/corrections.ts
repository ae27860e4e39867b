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
const PRESENTATION: readonly Correction[] = [
  { part: /^ppt\/slides\/slide\d+\.xml$/, edits: bulletEdits },
  CHARTS,
];

/** Returns the corrections of a kind of document such as `xlsx`. Those of the text of Word documents are in `word/`. */
export function correctionsOf(kind: string): readonly Correction[] {
  if (/^xl[st][xm]$/.test(kind)) return WORKBOOK;
  if (/^do[ct][xm]$/.test(kind)) return [CHARTS];
  return /^p[op][tsp][xm]$/.test(kind) ? PRESENTATION : [];
}

/**
 * Changes a document before LibreOffice reads it. The result is only for PDF, because it is no longer what its author wrote. Returns
 * `undefined` if nothing needs to change. A part that is not well-formed is left alone.
 */
export async function correct(
  bytes: Buffer,
  corrections: readonly Correction[],
): Promise<Buffer | undefined> {
  if (corrections.length === 0) return undefined;
  const parts = await readParts(bytes, (name) => corrections.some(({ part }) => part.test(name)));
  const changed = new Map<string, string>();
  for (const [name, text] of parts) {
    const edits = corrections
      .filter(({ part }) => part.test(name))
      .flatMap((correction) => attempt(() => correction.edits(text, parts)));
    if (edits.length > 0) changed.set(name, applyEdits(text, edits));
  }
  return changed.size > 0 ? withParts(bytes, changed) : undefined;
}

function attempt(edit: () => Edit[]): Edit[] {
  try {
    return edit();
  } catch {
    return [];
  }
}
