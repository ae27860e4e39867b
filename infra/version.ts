import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { dayOf } from '../functions/shared/time.ts';

/** Body of `GET /api/version`. */
export interface Version {
  readonly version: string;
  /** Version of the source code, or `unknown` outside a repository. */
  readonly commit: string;
  readonly engines: Readonly<Record<string, string>>;
  /** UTC day on which the oldest engine was built, or `unknown`. */
  readonly built: string;
}

const ROOT = join(import.meta.dirname, '..');

/** The package whose version represents an engine, by layer. */
const ENGINES = {
  chromium: ['chromium', /^@sparticuz\/chromium$/],
  libreoffice: ['libreoffice', /^libreoffice-core/],
  // Pattern for LibreOffice's own build of PDFium.
  pdfium: ['pdf', /^libreoffice-core/],
} as const;

/** Reads the versions of this source tree and of the engines. `folderOf` returns the folder of a layer. */
export function readVersion(folderOf: (layer: string) => string): Version {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const engines = Object.entries(ENGINES).map(([engine, [layer, name]]) => [
    engine,
    engineVersion(join(folderOf(layer), 'manifest.json'), name),
  ]);
  return {
    version,
    commit: readCommit(),
    engines: { ...Object.fromEntries(engines), sharp: sharpVersion(), node: process.version.slice(1) },
    built: oldest(Object.values(ENGINES).map(([layer]) => join(folderOf(layer), 'manifest.json'))),
  };
}

function oldest(files: readonly string[]): string {
  const times = files.flatMap((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? []);
  return times.length === 0 ? 'unknown' : dayOf(Math.min(...times));
}

/** Returns the version of sharp's npm package, for which one machine has no layer. */
function sharpVersion(): string {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'node_modules/sharp/package.json'), 'utf8'));
  return version;
}

function engineVersion(manifest: string, name: RegExp): string {
  try {
    const packages = JSON.parse(readFileSync(manifest, 'utf8')) as Array<{ name: string; version: string }>;
    return packages.find((installed) => name.test(installed.name))?.version ?? 'unknown';
  } catch {
    return 'unknown';
  }
}

/** Returns the start of the commit's hash, or `unknown` outside a repository. */
export function readCommit(): string {
  // A bundle names its commit itself.
  const { gitHead } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { gitHead?: string };
  if (gitHead !== undefined) return gitHead;
  try {
    return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], {
      cwd: ROOT,
      encoding: 'utf8',
      // Leaves out the API key, which may be in the environment.
      env: { PATH: process.env.PATH, HOME: process.env.HOME },
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return 'unknown';
  }
}
