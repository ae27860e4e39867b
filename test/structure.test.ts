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
  expect(computed).toEqual(['functions/platform/aws/load-parameters.ts']);
  expect(IMPORTS.get('functions/platform/aws/load-parameters.ts')).toContain(
    'functions/platform/aws/parameters.ts',
  );
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
  // A capability adds its parameters and its stores to their lists.
  const listed =
    /^functions\/jobs\/(options|store|webhooks\/secrets)\.ts$|^functions\/buckets\/(places|prefixes)\.ts$/;
  const upward = importsThat((file, path) => lower.test(file) && !lower.test(path) && !listed.test(path));

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
    /^(infra\/|functions\/(platform\/|router\/lambda\/|jobs\/durable\/|site\/dependencies\.ts|\w+\/index\.ts))/;
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

/**
 * Calls that read files, in what the server and the tools load outside of workers: how many, and why they keep no source or
 * result of a caller in memory.
 */
const READS: Readonly<Record<string, readonly [count: number, reason: string]>> = {
  'functions/buckets/s3.ts': [1, 'a stream'],
  'functions/conversion/store.ts': [1, 'the head of a result'],
  'functions/conversion/stored-zip.ts': [1, 'results for an archive, in parts into the same buffer'],
  'functions/engines/chromium/proxy/served-files.ts': [1, 'a stream'],
  'functions/engines/chromium/upload.ts': [1, 'the head of a page'],
  'functions/engines/pdf/graph/graph.ts': [1, 'only workers call readGraph'],
  'functions/engines/pdf/pdf.ts': [1, 'a stream'],
  'functions/engines/pdf/sign.ts': [5, 'files of the operator, and streams of what is signed'],
  'functions/engines/worker/linux/examine.ts': [3, 'names in a directory, and files of /proc'],
  'functions/engines/worker/linux/limits.ts': [3, 'names in a directory, and a file of /proc'],
  'functions/engines/worker/linux/orphans.ts': [1, 'files of /proc'],
  'functions/engines/worker/linux/proc.ts': [2, 'files of /proc'],
  'functions/engines/worker/workspace.ts': [2, 'names in a directory'],
  'functions/shared/egress/resolver.ts': [1, 'the configuration of the machine'],
  'functions/shared/source/decode-file.ts': [1, 'a stream, in the process of a download'],
  'functions/shared/source/file.ts': [1, 'the head of a source'],
  'infra/local/operation/lock.ts': [1, 'a file of the service'],
  'infra/local/server/descriptors.ts': [1, 'a file of /proc'],
  'infra/local/server/http/signed-url.ts': [2, 'the key of the service'],
  'infra/local/server/service.ts': [1, 'scripts and styles of the site'],
  'infra/version.ts': [4, 'files of the service'],
};
/** Functions of Node, and of file handles, that read content. */
const READING =
  /\.?\b(?:read|readv|readFile|readFileSync|readSync|readvSync|readLines|readableWebStream|createReadStream|openAsBlob)\(/g;

it('reads no source in the process of the server: only heads of files, and streams', () => {
  const entries = ['infra/local/main.ts', ...globSync('functions/*/convert.ts', { cwd: ROOT })];
  const loaded = new Set<string>();
  const visit = (file: string) => {
    if (loaded.has(file) || !file.endsWith('.ts')) return;
    loaded.add(file);
    const text = readFileSync(join(ROOT, file), 'utf8');
    for (const path of IMPORTS.get(file) ?? []) if (isLoaded(text, path.split('/').at(-1)!)) visit(path);
  };
  for (const entry of entries) visit(entry);

  const counts = [...loaded].sort().flatMap((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    // A function of the same name is its own.
    const own = [...text.matchAll(/(?:function|const|async) (read\w*)(?:\(| = )/g)].map(
      ([, name]) => `${name}(`,
    );
    const calls = text.match(READING)?.filter((call) => !own.includes(call)) ?? [];
    return calls.length > 0 && /'node:fs|FileHandle/.test(text) ? [[file, calls.length] as const] : [];
  });

  expect(loaded.size).toBeGreaterThan(150);
  expect(counts).toEqual(Object.entries(READS).map(([file, [count]]) => [file, count]));
});

/** Whether a file imports another one by its name for more than types. */
function isLoaded(text: string, name: string): boolean {
  const imports = [...text.matchAll(/\b(import|export)\b([^;]*?)(?:from )?\(?['`][^'`]*\/([^'`/]+)['`]/g)];
  return imports.some(([, , names, path]) => path === name && !/^\s*type\b/.test(names!));
}

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
