/** Joins alternatives: `a, b or c`. */
export function alternatives(words: readonly string[]): string {
  return [words.slice(0, -1).join(', '), ...words.slice(-1)].filter((part) => part !== '').join(' or ');
}

/** Text that clients search every response for, so that no other text may contain it. */
const MARKERS = /\[output\]|<br>/gi;

/** Replaces what could control a terminal or imitate another line. */
export function printable(text: string): string {
  return text.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '\ufffd');
}

/** Quotes a caller's text for a message: one line, at most 60 characters. */
export function quote(value: string): string {
  // Leaves more than enough characters, even if each marker becomes one.
  const line = printable(value.slice(0, 500)).replace(MARKERS, '\ufffd');
  return `'${shorten(line, 60)}'`;
}

/** Returns a document's text for a warning: printable ASCII of at most `max` characters, and a question mark for the rest. */
export function toAscii(text: string, max = 60): string {
  return shorten(
    text
      .slice(0, 1000)
      .replace(/[^ -~]+/g, '?')
      .replace(MARKERS, '?'),
    max,
  );
}

function shorten(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 3)}...` : text;
}
