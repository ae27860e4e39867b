import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const FILES = globSync('{functions,infra,layers}/**/*.ts', { cwd: ROOT }).sort();

/** Files that each file imports, also for types or while it runs. */
const IMPORTS = new Map(FILES.map((file) => [file, importsOf(file)]));

function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  return [...text.matchAll(/\b(?:from |import |import\()(?:'(\.[^']+)'|`(\.[^`]+)`)/g)].flatMap(
    ([, path, template]) => {
      if (path) return relative(ROOT, join(ROOT, dirname(file), path));
      const pattern = join(dirname(file), template!.replace(/\$\{[^}]*\}/g, '*'));
      const files = globSync(pattern, { cwd: ROOT });
      expect(files, `${file} imports ${pattern}`).not.toEqual([]);
      return files;
    },
  );
}

it('imports a path that is not written out in one file only', () => {
  const computed = FILES.filter((file) => /\bimport\((?!['`])/.test(readFileSync(join(ROOT, file), 'utf8')));

  // The file also imports the types of that path.
  expect(computed).toEqual(['functions/site/load.ts']);
  expect(IMPORTS.get('functions/site/load.ts')).toContain('functions/site/dependencies.ts');
  expect(IMPORTS.get('layers/build.ts')).toContain('layers/pdf/build.ts');
});

it('has no files that import each other in a cycle', () => {
  const cycles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]) => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' → '));
    if (path.includes(file) || done.has(file)) return;
    for (const next of IMPORTS.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  };
  for (const file of FILES) visit(file, []);

  expect(FILES.length).toBeGreaterThan(200);
  expect([...IMPORTS.values()].flat().length).toBeGreaterThan(FILES.length);
  expect(cycles).toEqual([]);
});

it('imports neither the router nor a tool in what they share', () => {
  const lower = /^functions\/(shared|engines|platform|conversion)\//;
  const upward = importsThat((file, path) => lower.test(file) && !lower.test(path));

  expect(upward).toEqual([]);
});

it('imports only shared code in shared', () => {
  const shared = /^functions\/shared\//;
  const upward = importsThat((file, path) => shared.test(file) && !shared.test(path));

  expect(upward).toEqual([]);
});

it('imports what is specific to a deployment only where the deployment is composed', () => {
  const specific = /^functions\/platform\/(local|aws)\//;
  const composed =
    /^(infra\/|functions\/(platform\/|router\/lambda\/|site\/dependencies\.ts|\w+\/index\.ts))/;
  const wrong = importsThat((file, path) => specific.test(path) && !composed.test(file));

  expect(wrong).toEqual([]);
});

/** Returns `file → path` for every import, also of types, that `isWrong`. */
function importsThat(isWrong: (file: string, path: string) => boolean): string[] {
  return FILES.flatMap((file) =>
    IMPORTS.get(file)!
      .filter((path) => isWrong(file, path))
      .map((path) => `${file} → ${path}`),
  );
}

it('imports no deployment in functions and no test anywhere', () => {
  const wrong = [...IMPORTS].flatMap(([file, paths]) =>
    paths
      .filter(
        (path) => path.startsWith('test/') || (file.startsWith('functions/') && path.startsWith('infra/')),
      )
      .map((path) => `${file} → ${path}`),
  );

  expect(wrong).toEqual([]);
});

it('reads environment variables only in functions/shared/settings', () => {
  const readers = FILES.filter(
    (file) => file.startsWith('functions/') && /process\.env\b/.test(readFileSync(join(ROOT, file), 'utf8')),
  );

  expect(readers).toEqual(['functions/shared/settings/environment.ts']);
});

it('has each test at the path of what it tests: `convert.test.ts`, or `convert.paper.test.ts` for one aspect of it', () => {
  const tests = globSync('test/{functions,infra,layers}/**/*.test.ts', { cwd: ROOT });
  const isSource = (path: string) =>
    ['', '.ts', '.mjs', '.c'].some((extension) => existsSync(join(ROOT, `${path}${extension}`)));

  const elsewhere = tests.filter((test) => {
    const path = test.replace(/(\.(engine|service|aws|lab))?\.test\.ts$/, '');
    const places = [path, path.replace(/\.[\w-]+$/, '')];
    return !places.map((place) => place.replace(/^test\//, '')).some(isSource);
  });

  expect(elsewhere).toEqual([]);
});
