import { readFileSync, writeFileSync } from 'node:fs';

/** Begins a generated section of a README, `<!-- table: NAME -->` or `<!-- measured: NAME -->`. It ends with `<!-- end -->`. */
const SECTION = /(<!-- (table|measured): (.+?) -->\n)([\s\S]*?)(<!-- end -->)/g;

/** Replaces the sections of one kind in a text. `write` gets the name and the earlier content of each, and may keep it. */
export function replaceSections(
  text: string,
  kind: 'table' | 'measured',
  write: (name: string, earlier: string) => string | undefined,
): string {
  return text.replace(SECTION, (section, begin, ownKind, name, earlier, end) => {
    const content = ownKind === kind ? write(name, earlier.trim()) : undefined;
    return content === undefined ? section : `${begin}\n${content}\n\n${end}`;
  });
}

/**
 * Writes measurements into their section of a README.
 * @throws Error if the README has no section of that name.
 */
export function writeMeasured(readme: string, name: string, write: (earlier: string) => string): void {
  let isFound = false;
  const text = replaceSections(readFileSync(readme, 'utf8'), 'measured', (each, earlier) => {
    if (each !== name) return undefined;
    isFound = true;
    return write(earlier);
  });
  if (!isFound) throw new Error(`${readme} has no section <!-- measured: ${name} -->.`);
  writeFileSync(readme, text);
}
