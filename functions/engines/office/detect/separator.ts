/** Possible separators of the cells of a text table. */
export const SEPARATORS = [',', ';', '\t', '|'] as const;

/** Returns the separator that occurs most often in the first lines, outside quotes. */
export function findSeparator(text: string): string {
  const lines = text.slice(0, 4096).replace(/"[^"]*"/g, '');
  const counted = SEPARATORS.map((separator) => ({ separator, count: lines.split(separator).length }));
  return counted.reduce((best, next) => (next.count > best.count ? next : best)).separator;
}
