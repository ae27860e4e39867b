import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

interface LockedPackage {
  readonly bin?: Readonly<Record<string, string>>;
}

// npm 10 removes the link of the other package when it skips an optional one of another processor.
it('installs no two packages that have a program of the same name', () => {
  const lock = JSON.parse(readFileSync(join(import.meta.dirname, '../package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  const programs = Object.entries(lock.packages)
    .filter(([path]) => /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path))
    .flatMap(([, { bin }]) => Object.keys(bin ?? {}));

  expect(programs).toContain('node');
  expect(programs.filter((name, index) => programs.indexOf(name) !== index)).toEqual([]);
});
