/** Maximum characters of a language tag, as RFC 5646 recommends. `Intl` takes quadratic time for long texts. */
const MAX_LENGTH = 35;

/** Reads a language tag such as `de-DE`. Returns `undefined` if it is too long or not well-formed. */
export function languageTag(value: string): string | undefined {
  if (value.length > MAX_LENGTH) return undefined;
  try {
    return Intl.getCanonicalLocales(value)[0];
  } catch {
    return undefined;
  }
}
