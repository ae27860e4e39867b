import { execFile } from 'node:child_process';
import { access, glob, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Packages whose examples are converted: charts, tables, networks, slides, CSS. None of them is part of this project. */
export const PACKAGES = [
  { name: 'dygraphs', version: '2.2.2', licence: 'MIT' },
  { name: 'nvd3', version: '1.8.6', licence: 'Apache-2.0' },
  { name: 'spectre.css', version: '0.5.9', licence: 'MIT' },
  { name: 'vis', version: '4.21.0', licence: 'Apache-2.0 OR MIT' },
  { name: 'impress.js', version: '1.1.0', licence: 'MIT' },
  { name: 'reveal.js', version: '6.0.2', licence: 'MIT' },
  { name: 'wowjs', version: '1.1.3', licence: 'MIT' },
] as const;

const run = promisify(execFile);

/** Downloads and unpacks the packages that are not in the folder yet. Returns the pages in them, as paths below it. */
export async function downloadPages(folder: string): Promise<string[]> {
  const pages: string[] = [];
  for (const { name, version } of PACKAGES) {
    const directory = join(folder, `${name}-${version}`);
    const isThere = await access(join(directory, 'package')).then(
      () => true,
      () => false,
    );
    if (!isThere) {
      await mkdir(directory, { recursive: true });
      const packed = await run('npm', ['pack', '--silent', `${name}@${version}`], { cwd: directory });
      await run('tar', ['--extract', '--file', packed.stdout.trim(), '--warning=no-unknown-keyword'], {
        cwd: directory,
      });
    }
    for await (const page of glob('**/*.html', { cwd: directory })) {
      pages.push(join(`${name}-${version}`, page));
    }
  }
  return pages.sort();
}

/** Returns `limit` of all, spread evenly. */
export function spread<Value>(all: readonly Value[], limit: number): Value[] {
  if (all.length <= limit) return [...all];
  return Array.from({ length: limit }, (_, index) => all[Math.floor((index * all.length) / limit)]!);
}
