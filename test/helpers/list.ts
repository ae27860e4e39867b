/** Splits a list of texts at its commas. */
export function list(texts: TemplateStringsArray): readonly string[] {
  return texts
    .join('')
    .split(',')
    .map((text) => text.trim());
}
