import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Package } from '../debian/apt.ts';

/** One line of a layer's `manifest.json`. */
interface ManifestEntry extends Package {
  /** Short names of licenses from the package's copyright file. */
  readonly licenses: readonly string[];
  /** Path of the full text in `licenses/`, which packages from the same source share. */
  readonly licenseText?: string;
}

/** Writes `manifest.json` and the license texts of the packages in `unpacked`. */
export async function writeManifest(request: {
  readonly packages: readonly Package[];
  readonly unpacked: string;
  readonly into: string;
}): Promise<void> {
  const folder = join(request.into, 'licenses');
  await mkdir(folder, { recursive: true });
  const written = new Map<string, string>();
  const entries: ManifestEntry[] = [];
  for (const item of request.packages) {
    // A package may use the documentation folder of a related package that is not part of the layer.
    const text = await readFile(
      join(request.unpacked, 'usr/share/doc', item.name, 'copyright'),
      'utf8',
    ).catch(() => '');
    if (text === '') {
      entries.push({ ...item, licenses: [] });
      continue;
    }
    const hash = createHash('sha256').update(text).digest('hex');
    const licenseText = written.get(hash) ?? `licenses/${item.name}`;
    if (!written.has(hash)) await writeFile(join(request.into, licenseText), text);
    written.set(hash, licenseText);
    entries.push({ ...item, licenses: licensesIn(text), licenseText });
  }
  await writeFile(join(request.into, 'manifest.json'), `${JSON.stringify(entries, undefined, 2)}\n`);
}

function licensesIn(copyright: string): string[] {
  const names = [...copyright.matchAll(/^License:[ \t]*(\S.*)$/gm)].map(([, name]) => name!.trim());
  return [...new Set(names)].sort();
}
