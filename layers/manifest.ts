import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Package } from './apt.ts';

/** One line of a layer's `manifest.json`. */
export interface ManifestEntry extends Package {
  /** Short names as the package's copyright file gives them; the whole text lies in `licences/`. */
  readonly licences: readonly string[];
}

/** Writes `manifest.json` and the licence texts of packages that were unpacked into `unpacked`. */
export async function writeManifest(request: {
  readonly packages: readonly Package[];
  readonly unpacked: string;
  readonly into: string;
}): Promise<void> {
  const folder = join(request.into, 'licences');
  await mkdir(folder, { recursive: true });
  const entries = await Promise.all(
    request.packages.map(async (item): Promise<ManifestEntry> => {
      const source = join(request.unpacked, 'usr/share/doc', item.name, 'copyright');
      // A package may share the documentation folder of a sibling that is not wanted here.
      const text = await readFile(source, 'utf8').catch(() => '');
      if (text !== '') await copyFile(source, join(folder, item.name));
      return { ...item, licences: licencesIn(text) };
    }),
  );
  await writeFile(join(request.into, 'manifest.json'), `${JSON.stringify(entries, undefined, 2)}\n`);
}

function licencesIn(copyright: string): string[] {
  const names = [...copyright.matchAll(/^License:[ \t]*(\S.*)$/gm)].map(([, name]) => name!.trim());
  return [...new Set(names)].sort();
}
