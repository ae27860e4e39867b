/** Extensions with the same meaning as another one, which names the format. */
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['jpeg', 'jpg'],
  ['tif', 'tiff'],
  ['htm', 'html'],
]);

/** Returns the name of the format that an extension means, in any case: `jpg` for `JPEG`. */
export function formatNamed(extension: string): string {
  const lower = extension.toLowerCase();
  return SYNONYMS.get(lower) ?? lower;
}

/** Returns all extensions of a format, its name first. */
export function extensionsOf(format: string): readonly string[] {
  const others = [...SYNONYMS].filter(([, name]) => name === format);
  return [format, ...others.map(([extension]) => extension)];
}
