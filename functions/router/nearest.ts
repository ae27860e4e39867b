import { distance } from 'fastest-levenshtein';

/** Answers the name most like a mistyped one, for "did you mean"; `undefined` where none is near. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  if (name.length > 60) return undefined;
  const letters = (text: string) => text.toLowerCase().replace(/^-+/, '').replaceAll('_', '-');
  const ranked = names
    .map((known) => ({ known, edits: distance(letters(name), letters(known)) }))
    .sort((a, b) => a.edits - b.edits);
  const best = ranked[0];
  return best && best.edits <= Math.max(1, letters(name).length / 3) ? best.known : undefined;
}
