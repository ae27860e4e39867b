import { copyFile, mkdir, readdir, realpath, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** Patterns for the regions without patterns of their own, of languages that have several. */
const WORLDWIDE: Readonly<Record<string, string>> = { en: 'hyph_en_GB.dic', pt: 'hyph_pt_PT.dic' };

/**
 * Copies the patterns by which words may be divided at the end of a line, and registers them for the locales that Debian
 * links to them and for the other regions of their languages, because LibreOffice divides no words in other locales.
 * Debian's LibreOffice looks for them in a fixed folder of the system.
 */
export async function addHyphenation(unpacked: string, into: string): Promise<void> {
  const installed = join(unpacked, 'usr/share/hyphen');
  const locales = new Map<string, string[]>();
  for (const name of (await readdir(installed)).sort()) {
    const locale = /^hyph_(.+)\.dic$/.exec(name)?.[1]?.replaceAll('_', '-');
    const file = basename(await realpath(join(installed, name)));
    if (locale !== undefined) locales.set(file, [...(locales.get(file) ?? []), locale]);
  }
  addRegions(locales);
  await mkdir(join(into, 'share/hyphen'));
  for (const file of locales.keys()) await copyFile(join(installed, file), join(into, 'share/hyphen', file));
  const nodes = [...locales].map(([file, names]) => nodeOf(file, names)).join('\n');
  await writeFile(
    join(into, 'share/registry/hyphenation.xcd'),
    `<?xml version="1.0" encoding="UTF-8"?>
<oor:data xmlns:oor="http://openoffice.org/2001/registry">
  <dependency file="main"/>
  <oor:component-data oor:package="org.openoffice.Office" oor:name="Linguistic">
    <node oor:name="ServiceManager"><node oor:name="Dictionaries">
${nodes}
    </node></node>
  </oor:component-data>
</oor:data>
`,
  );
}

/** Adds the regions in which the language of a file is used, unless the locale has a file already. */
function addRegions(locales: Map<string, string[]>): void {
  const linked = new Set([...locales.values()].flat());
  for (const [file, names] of locales) {
    const languages = new Set(names.map((name) => name.replace(/-[A-Z]{2}$/, '')));
    const own = [...languages].filter((language) => (WORLDWIDE[language] ?? file) === file);
    names.push(...own.flatMap(localesOf).filter((locale) => !linked.has(locale)));
  }
}

/** Returns the locales of a language that Unicode's locale data lists, such as `de-AT`. */
function localesOf(language: string): string[] {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  const countries = letters.flatMap((first) => letters.map((second) => first + second));
  const latinAmerica = '419';
  return [...countries, latinAmerica]
    .map((region) => `${language}-${region}`)
    .filter((locale) => new Intl.NumberFormat(locale).resolvedOptions().locale === locale);
}

function nodeOf(file: string, locales: readonly string[]): string {
  const properties = {
    Locations: `vnd.sun.star.expand:$BRAND_BASE_DIR/share/hyphen/${file}`,
    Format: 'DICT_HYPH',
    Locales: locales.join(' '),
  };
  const values = Object.entries(properties).map(
    ([name, value]) => `<prop oor:name="${name}"><value>${value}</value></prop>`,
  );
  return `<node oor:name="${basename(file, '.dic')}" oor:op="replace">${values.join('')}</node>`;
}
