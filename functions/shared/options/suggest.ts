import { distance } from 'fastest-levenshtein';

/** Returns the name that is most similar to a mistyped one, or `undefined` if none is similar. */
export function suggest(name: string, names: readonly string[]): string | undefined {
  if (name.length > 60) return undefined;
  const letters = (text: string) => text.toLowerCase().replace(/^-+/, '').replaceAll('_', '-');
  const ranked = names
    .map((known) => ({ known, edits: distance(letters(name), letters(known)) }))
    .sort((a, b) => a.edits - b.edits);
  const best = ranked[0];
  const { length } = letters(name);
  // Two swapped letters count as two edits. A suggestion must share at least one letter.
  const max = Math.min(length - 1, length < 4 ? 1 : Math.max(2, length / 3));
  return best && best.edits <= max ? best.known : undefined;
}
