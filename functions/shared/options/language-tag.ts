/** Reads a language tag such as `de-DE`. Returns `undefined` if it is not well-formed. */
export function languageTag(value: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(value)[0];
  } catch {
    return undefined;
  }
}
