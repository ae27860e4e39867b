import { globSync } from 'node:fs';
import { join } from 'node:path';
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

/** Replaces everything between `<!-- table: NAME -->` and `<!-- end -->` with the table generated from the code. */
export function fill(readme: string): string {
  return readme.replace(
    /(<!-- table: (\S+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, start: string, name: string, end: string) => {
      const generated = tables().get(name);
      if (generated === undefined) throw new Error(`There is no generated table named '${name}'.`);
      return `${start}\n${generated}\n\n${end}`;
    },
  );
}
