import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';
import * as tools from '../functions/tools.ts';

const ROOT = join(import.meta.dirname, '..');
const FILES = globSync('{functions,infra,layers}/**/*.ts', { cwd: ROOT }).sort();

/** Files that each file imports when it runs: type imports are erased. */
const IMPORTS = new Map(FILES.map((file) => [file, importsOf(file)]));

function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const statements = text.matchAll(/^(?:import|export)\s(?!type\s)([^;]*?)from '(\.[^']+)'/gm);
  return [...statements]
    .filter(([, names]) => !/^\{(\s*type\s[^,}]+,?)*\s*\}\s*$/.test(names!))
    .map(([, , path]) => relative(ROOT, join(ROOT, dirname(file), path!)));
}

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

it('imports neither the router nor a tool in functions/shared', () => {
  const upward = FILES.filter((file) => file.startsWith('functions/shared/')).flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/from '(\.[^']+)'/g)]
      .map(([, path]) => relative(ROOT, join(ROOT, dirname(file), path!)))
      .filter((path) => !path.startsWith('functions/shared/'))
      .map((path) => `${file} → ${path}`),
  );

  expect(upward).toEqual([]);
});

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

it('has at most eight files in a folder that is not a tool', () => {
  const counts = Map.groupBy(FILES, dirname);
  const isTool = (folder: string) =>
    Object.keys(tools).some((name) => `${folder}/`.startsWith(`functions/${name}/`));

  const crowded = [...counts].filter(([folder, files]) => files.length > 8 && !isTool(folder));

  expect(crowded.map(([folder, files]) => `${folder}: ${files.length}`)).toEqual([]);
});

it('reads environment variables only in functions/shared/settings', () => {
  const readers = FILES.filter(
    (file) => file.startsWith('functions/') && /process\.env\b/.test(readFileSync(join(ROOT, file), 'utf8')),
  );

  expect(readers).toEqual(['functions/shared/settings/environment.ts']);
});
