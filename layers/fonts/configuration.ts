import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { STAND_INS, standInName } from './stand-ins.ts';
import {
  ALSO_CALLED,
  FALLBACK,
  GENERIC,
  JAPANESE,
  LANGUAGES,
  NEAREST,
  PARTS,
  STANDS_FOR,
  STANDS_FOR_IN_PAGES,
  type Substitutes,
} from './substitutes.ts';

/** Removes DejaVu's black-and-white emoji, which would otherwise be preferred over the colored ones. */
const WITHOUT_EMOJI = [
  '<match target="scan"><test name="family"><string>DejaVu Sans</string></test>',
  '<edit name="charset" mode="assign"><minus><name>charset</name><charset>',
  '<range><int>0x1f300</int><int>0x1faff</int></range>',
  '</charset></minus></edit></match>',
].join('\n');

/** Prefers Japanese forms in text that is marked as Japanese. */
const JAPANESE_FORMS = [
  '<match target="pattern"><test name="lang" compare="contains"><string>ja</string></test>',
  '<test name="family"><string>WenQuanYi Micro Hei</string></test>',
  `<edit name="family" mode="prepend" binding="same"><string>${JAPANESE}</string></edit></match>`,
].join('\n');

/**
 * Returns `fonts.conf`. The layer works in any folder: fonts are found relative to the file itself, and the caches below
 * `XDG_CACHE_HOME`. Consumers set the variables that `fontEnvironment` in `functions/engines/worker/sandbox.ts` returns. `rules` are
 * those of fontconfig itself; see `readRules`.
 */
export function fontsConfiguration(rules: string): string {
  const substitutes = [STANDS_FOR, STANDS_FOR_IN_PAGES].flatMap((each) => Object.entries(each));
  return configuration(
    rules,
    substitutes.flatMap(([face, families]) => standIns(families, face)),
  );
}

/**
 * Returns `office.conf`, for programs that request one family instead of a list. LibreOffice requests a name and
 * `serif`, whatever the font is, so every missing font must have a substitute here.
 */
export function officeConfiguration(rules: string): string {
  return configuration(rules, [
    // Each rule inserts its substitute right after the name, so later rules take precedence.
    substitute(
      '<test qual="first" name="family" compare="not_eq"><string>serif</string></test>',
      'Liberation Sans',
    ),
    substitute(familyTest('any', 'eq', 'monospace'), 'Liberation Mono'),
    ...PARTS.flatMap(([face, parts]) =>
      parts.map((part) => substitute(familyTest('first', 'contains', part), face)),
    ),
    ...Object.entries(LANGUAGES).flatMap(([face, languages]) =>
      languages.map((language) =>
        substitute(`<test name="lang" compare="contains"><string>${language}</string></test>`, face),
      ),
    ),
    ...byLength(NEAREST).map(([family, face]) => substitute(familyTest('first', 'contains', family), face)),
    ...Object.entries(STANDS_FOR).flatMap(([face, families]) => standIns(families, face)),
    ...[...new Set(STAND_INS.map(({ family }) => family))].flatMap((family) =>
      standIns([family, ...(ALSO_CALLED[family] ?? [])], standInName(family)),
    ),
  ]);
}

/** Sorts names by length. More fonts contain a shorter name, so longer names must come later to take precedence. */
function byLength(families: Substitutes): ReadonlyArray<readonly [family: string, face: string]> {
  return Object.entries(families)
    .flatMap(([face, names]) => names.map((family) => [family, face] as const))
    .sort(([one], [other]) => one.length - other.length);
}

function familyTest(which: 'first' | 'any', compare: 'eq' | 'contains', family: string): string {
  return `<test qual="${which}" name="family" compare="${compare}"><string>${family}</string></test>`;
}

/** Inserts a face after the first family that the test matches. */
function substitute(test: string, face: string): string {
  const edit = `<edit name="family" mode="append" binding="same"><string>${face}</string></edit>`;
  return `<match target="pattern">${test}${edit}</match>`;
}

function standIns(families: readonly string[], face: string): string[] {
  return families.map((family) => alias(family, 'accept', [face], ' binding="same"'));
}

function configuration(rules: string, substitutes: readonly string[]): string {
  const generics = Object.entries(GENERIC).map(([family, face]) =>
    alias(family, 'prefer', [face, ...FALLBACK]),
  );
  return [
    '<?xml version="1.0"?>',
    '<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">',
    '<fontconfig>',
    '<dir prefix="relative">faces</dir>',
    // The name of the folder in the caches, wherever the layer is.
    '<remap-dir prefix="relative" as-path="/fonts">faces</remap-dir>',
    '<cachedir prefix="xdg">fontconfig</cachedir>',
    ...substitutes,
    ...generics,
    '<match target="pattern"><edit name="family" mode="append_last">',
    ...['Liberation Sans', ...FALLBACK].map((face) => `<string>${face}</string>`),
    '</edit></match>',
    JAPANESE_FORMS,
    WITHOUT_EMOJI,
    rules.trim(),
    // Enables gray smoothing and disables hinting, so that the layout is the same at every size.
    '<match target="font">',
    '<edit name="antialias" mode="assign"><bool>true</bool></edit>',
    '<edit name="hinting" mode="assign"><bool>false</bool></edit>',
    '<edit name="rgba" mode="assign"><const>none</const></edit>',
    '</match>',
    '</fontconfig>',
    '',
  ].join('\n');
}

function alias(family: string, rank: 'accept' | 'prefer', faces: readonly string[], binding = ''): string {
  const names = faces.map((face) => `<family>${face}</family>`).join('');
  return `<alias${binding}><family>${family}</family><${rank}>${names}</${rank}></alias>`;
}

const OTHER_FACES = 'the tables in substitutes.ts name the faces that this layer has';
const OUTSIDE = 'it reads files outside the layer';

/** Rules of Debian's fontconfig that the layer leaves out, with the reasons. All others apply. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  '30-metric-aliases.conf': OTHER_FACES,
  '40-nonlatin.conf': OTHER_FACES,
  '45-generic.conf': OTHER_FACES,
  '45-latin.conf': OTHER_FACES,
  '48-spacing.conf': 'it prefers a generic face to the stand-in of a fixed-width font',
  '49-sansserif.conf': OTHER_FACES,
  '50-user.conf': OUTSIDE,
  '51-local.conf': OUTSIDE,
  '60-generic.conf': OTHER_FACES,
  '60-latin.conf': OTHER_FACES,
  '65-fonts-persian.conf': OTHER_FACES,
  '65-nonlatin.conf': OTHER_FACES,
  '69-unifont.conf': OTHER_FACES,
};

/** Rules that Debian enables when the package is configured, which unpacking it does not do. */
const ENABLED_LATER = ['70-no-bitmaps-except-emoji.conf'];

/**
 * Returns fontconfig's own rules as XML elements, in the order in which Debian applies them. `debian` is the folder of the unpacked
 * package `fontconfig` and its dependencies.
 */
export async function readRules(debian: string): Promise<string> {
  // Packages of fonts enable further rules, which are not in this folder.
  const folder = join(debian, 'usr/share/fontconfig/conf.avail');
  const available = await readdir(folder);
  const enabled = [...(await readdir(join(debian, 'etc/fonts/conf.d'))), ...ENABLED_LATER].sort();
  const texts = enabled
    .filter((name) => available.includes(name) && !Object.hasOwn(LEFT_OUT, name))
    .map((name) => readFile(join(folder, name), 'utf8'));
  return (await Promise.all(texts)).map(elementsOf).join('');
}

function elementsOf(text: string): string {
  const elements = /<fontconfig>([\s\S]*)<\/fontconfig>/.exec(text)?.[1];
  if (elements === undefined) throw new Error('A fontconfig file has no <fontconfig> element.');
  return elements.replace(/<!--[\s\S]*?-->/g, '').replace(/^\s*\n/gm, '');
}
