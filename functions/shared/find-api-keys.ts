/** Seven letters and digits of a key; see `platform/keys.ts`. */
const GROUP = '[0-9A-HJKMNP-TV-Z]{7}';
const GROUP_LENGTH = 7;
/**
 * Finds a key by its first hyphen, because long texts contain few hyphens. A search for the first group would compare
 * every letter of a text seven times, which took 30 ms for a query.
 */
const ANYWHERE = new RegExp(`(?<=${GROUP})(-${GROUP}){3}`, 'gi');

/** Keys of any form that this process accepts, because an operator chose them. */
const chosen = new Set<string>();

/** Makes the functions below find a key that an operator chose. */
export function addChosenApiKey(apiKey: string): void {
  chosen.add(apiKey);
}

/** Whether a text contains a key, or anything that looks like one. */
export function containsApiKey(text: string): boolean {
  return text.search(ANYWHERE) >= 0 || [...chosen].some((apiKey) => text.includes(apiKey));
}

/** Replaces keys, and anything that looks like one. */
export function withoutApiKeys(given: string): string {
  const text = [...chosen].reduce((left, apiKey) => left.replaceAll(apiKey, '…'), given);
  const parts: string[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(ANYWHERE)) {
    parts.push(text.slice(end, Math.max(end, index - GROUP_LENGTH)), '…');
    end = index + found.length;
  }
  return parts.join('') + text.slice(end);
}
