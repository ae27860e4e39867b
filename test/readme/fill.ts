import { globSync } from 'node:fs';
import { join } from 'node:path';
import { replaceSections } from '../run/report.ts';
import { tables } from './tables.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Absolute paths of every README in the repository. */
export function readmes(): string[] {
  return [
    'README.md',
    'functions/**/README.md',
    'infra/**/README.md',
    'layers/**/README.md',
    'test/**/README.md',
    '.github/*.md',
  ]
    .flatMap((pattern) => globSync(pattern, { cwd: ROOT }))
    .map((path) => join(ROOT, path));
}

/** Replaces every generated table in a README. */
export function fill(readme: string): string {
  return replaceSections(readme, 'table', (name) => {
    const generated = tables().get(name);
    if (generated === undefined) throw new Error(`There is no generated table named '${name}'.`);
    return generated;
  });
}
