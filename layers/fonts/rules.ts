import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

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
