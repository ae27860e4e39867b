import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Package } from '../debian/apt.ts';

/** One line of a layer's `manifest.json`. */
export interface ManifestEntry extends Package {
  /** Short names as the package's copyright file gives them. */
  readonly licences: readonly string[];
  /** The whole text, in `licences/`; packages of one source share it. */
  readonly licenceText?: string;
}

/** Writes `manifest.json` and the licence texts of packages that were unpacked into `unpacked`. */
export async function writeManifest(request: {
  readonly packages: readonly Package[];
  readonly unpacked: string;
  readonly into: string;
}): Promise<void> {
  const folder = join(request.into, 'licences');
  await mkdir(folder, { recursive: true });
  const written = new Map<string, string>();
  const entries: ManifestEntry[] = [];
  for (const item of request.packages) {
    // A package may share the documentation folder of a sibling that is not wanted here.
    const text = await readFile(
      join(request.unpacked, 'usr/share/doc', item.name, 'copyright'),
      'utf8',
    ).catch(() => '');
    if (text === '') {
      entries.push({ ...item, licences: [] });
      continue;
    }
    const hash = createHash('sha256').update(text).digest('hex');
    const licenceText = written.get(hash) ?? `licences/${item.name}`;
    if (!written.has(hash)) await writeFile(join(request.into, licenceText), text);
    written.set(hash, licenceText);
    entries.push({ ...item, licences: licencesIn(text), licenceText });
  }
  await writeFile(join(request.into, 'manifest.json'), `${JSON.stringify(entries, undefined, 2)}\n`);
}

function licencesIn(copyright: string): string[] {
  const names = [...copyright.matchAll(/^License:[ \t]*(\S.*)$/gm)].map(([, name]) => name!.trim());
  return [...new Set(names)].sort();
}
