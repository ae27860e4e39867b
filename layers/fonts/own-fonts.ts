import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { textSetting } from '../../functions/shared/settings/environment.ts';
import { runCommand } from '../build/command.ts';
import { platform } from '../build/product.ts';

/** The fonts of the operator that the layer contains besides its own. */
export interface OwnFonts {
  /** Paths of the files, which differ in their names. */
  readonly files: readonly string[];
  /** Name and hash of each file, which decide whether the layer is up to date. */
  readonly recipe: ReadonlyArray<readonly [name: string, hash: string]>;
}

const STYLES = ['regular', 'bold', 'italic', 'bold italic'] as const;
/** fontconfig's weight from which a face counts as bold: semibold. */
const BOLD = 180;

/**
 * Finds the fonts in the folder that the setting FONTS names, and in its subfolders.
 * @throws Error if there are none, or two files have the same name
 */
export async function findOwnFonts(folder = textSetting('FONTS', undefined)): Promise<OwnFonts> {
  if (folder === undefined) return { files: [], recipe: [] };
  const found = globSync('**/*.{ttf,otf,ttc,otc,TTF,OTF,TTC,OTC}', { cwd: folder });
  const files = found.sort().map((name) => join(folder, name));
  if (files.length === 0)
    throw new Error(`The folder of FONTS, ${folder}, contains no .ttf, .otf or .ttc file.`);
  const names = files.map((file) => basename(file));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`The folder of FONTS contains two files called ${twice}.`);
  const recipe = files.map(async (file) => {
    const hash = createHash('sha256')
      .update(await readFile(file))
      .digest('hex');
    return [basename(file), hash] as const;
  });
  return { files, recipe: await Promise.all(recipe) };
}

/**
 * Copies the fonts to the folder `faces`, and lists their families in `faces/families` for PDFium: a line for each with its name and
 * the files of its four styles, separated by tabs. `debian` is the folder of the package `fontconfig`.
 */
export async function addOwnFonts({ files }: OwnFonts, faces: string, debian: string): Promise<void> {
  const families = new Map<string, Map<string, string>>();
  for (const file of files) {
    const name = `own-${basename(file)}`;
    await cp(file, join(faces, name));
    const libraries = join(debian, 'usr/lib', platform().triplet);
    const scan = ['--library-path', libraries, join(debian, 'usr/bin/fc-scan')];
    const format = '%{index}\t%{weight}\t%{slant}\t%{family}\n';
    const found = await runCommand(join(libraries, platform().loader), [...scan, '--format', format, file]);
    for (const line of found.split('\n').filter(Boolean)) {
      const [index, weight, slant, names] = line.split('\t') as [string, string, string, string];
      // PDFium reads the first face of a collection.
      if (index !== '0') continue;
      const style = STYLES[(Number(weight) >= BOLD ? 1 : 0) + (Number(slant) > 0 ? 2 : 0)]!;
      for (const family of names.split(',')) {
        const styles = families.get(family) ?? new Map<string, string>();
        if (!styles.has(style)) styles.set(style, name);
        families.set(family, styles);
      }
    }
  }
  const lines = [...families].map(([family, styles]) => {
    const [any] = styles.values();
    const [regular = any!, bold = regular, italic = regular, boldItalic = styles.get('bold') ?? italic] =
      STYLES.map((style) => styles.get(style));
    return [family, regular, bold, italic, boldItalic].join('\t');
  });
  if (lines.length > 0) await writeFile(join(faces, 'families'), lines.map((line) => `${line}\n`).join(''));
}
