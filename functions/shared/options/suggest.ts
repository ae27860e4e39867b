import { distance } from 'fastest-levenshtein';

/** Answers the name most like a mistyped one, for "did you mean"; `undefined` where none is near. */
export function suggest(name: string, names: readonly string[]): string | undefined {
  if (name.length > 60) return undefined;
  const letters = (text: string) => text.toLowerCase().replace(/^-+/, '').replaceAll('_', '-');
  const ranked = names
    .map((known) => ({ known, edits: distance(letters(name), letters(known)) }))
    .sort((a, b) => a.edits - b.edits);
  const best = ranked[0];
  const { length } = letters(name);
  // Two letters changed places count as two edits; a name of which nothing is left is no guess.
  const most = Math.min(length - 1, length < 4 ? 1 : Math.max(2, length / 3));
  return best && best.edits <= most ? best.known : undefined;
}
