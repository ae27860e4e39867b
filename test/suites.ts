import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

export type Suite = 'unit' | 'engines' | 'service' | 'aws';

/** A test belongs to the first suite with a pattern that its path or one of its imports matches, otherwise to `unit`. */
const RULES: ReadonlyArray<readonly [suite: Suite, path: RegExp, imports?: RegExp]> = [
  // Needs the CDK, an S3 server, or the Lambda emulator.
  ['aws', /^test\/infra\/aws\//, /\/(radosgw|lambda-emulator\/emulator)\.ts'/],
  // Starts the whole service.
  ['service', /^test\/(service\/|security\/security|infra\/local\/(main|self-check)|corpus\/main)/],
  // Starts an engine or other child processes, or reads the built layers.
  [
    'engines',
    /^test\/(likeness\/|layers\/(?!build)|functions\/shared\/worker\/(?!fonts))/,
    /\/(conversion|page-server|pdfium\w*|backend\/\w+|qpdf)\.ts'/,
  ],
];

/** The test files of each suite, relative to the repository. */
export const SUITES: Readonly<Record<Suite, string[]>> = (() => {
  const suites: Record<Suite, string[]> = { unit: [], engines: [], service: [], aws: [] };
  for (const path of globSync('test/**/*.test.ts', { cwd: ROOT }).sort()) suites[suiteOf(path)].push(path);
  return suites;
})();

function suiteOf(path: string): Suite {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const imports = text.match(/from '[^']+'/g)?.join('\n') ?? '';
  const rule = RULES.find(([, paths, modules]) => paths.test(path) || modules?.test(imports));
  return rule?.[0] ?? 'unit';
}
