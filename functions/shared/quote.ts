/** Joins alternatives: `a, b or c`. */
export function alternatives(words: readonly string[]): string {
  return [words.slice(0, -1).join(', '), ...words.slice(-1)].filter((part) => part !== '').join(' or ');
}

/** Quotes a caller's text for a message: one line, at most 60 characters. */
export function quote(value: string): string {
  // Leaves more than enough characters, even if each marker becomes one.
  const line = value
    .slice(0, 1000)
    .replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '\ufffd')
    // Clients search every response for these markers, so a quoted text must not contain them.
    .replace(/\[output\]|<br>/gi, '\ufffd');
  return `'${line.length > 60 ? `${line.slice(0, 57)}...` : line}'`;
}
