import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

export type Suite = 'unit' | 'engines' | 'service' | 'aws';

/** A test belongs to the first suite with a pattern that its path or one of its imports matches, otherwise to `unit`. */
const RULES: ReadonlyArray<readonly [suite: Suite, path: RegExp, imports?: RegExp]> = [
  // Starts the whole service or one of its commands.
  [
    'service',
    /^test\/(service\/|security\/security|infra\/(keys\/|local\/(main|keep-running|operation|self-check))|corpus\/main)/,
  ],
  // Needs the CDK, a stand-in for DynamoDB or S3, or the Lambda emulator.
  ['aws', /^test\/infra\/aws\//, /\/(dynalite|radosgw|lambda-emulator\/(emulator|runtime\/start))\.ts'/],
  // Starts an engine or other child processes, reads the built layers, or takes more than a second of CPU time.
  [
    'engines',
    /^test\/(bench\/inputs\/|likeness\/|layers\/(?!build)|functions\/shared\/worker\/(?!fonts)|.*\/(largest-sources|memory-guard|browser\/(sandbox|survivors))\.)/,
    /\/(conversion|page-server|pdfium\w*|qpdf|layers\/\w+\/build)\.ts'/,
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
