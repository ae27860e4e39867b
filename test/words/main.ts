// Fails if a retired word is back, or if a line of C is too long: part of `npm run check`.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RETIRED, type Retired } from './words.ts';

const ROOT = join(import.meta.dirname, '../..');
const FILES = globSync(['{functions,infra,layers,test}/**/*.{ts,mjs,c,h,md,sh}', '.github/*.md', '*.md'], {
  cwd: ROOT,
}).filter((file) => !file.startsWith('test/words/') && !file.endsWith('CHANGELOG.md'));

/** Maximum characters of a line of C. Biome wraps the other languages. */
const MAX_LINE = 130;

const found = FILES.flatMap((file) =>
  readFileSync(join(ROOT, file), 'utf8')
    .split('\n')
    .flatMap((line, index) =>
      issuesIn(line, file).map((issue) => `${file}:${index + 1}: ${issue}: ${line.trim()}`),
    ),
);
if (found.length > 0) {
  process.stderr.write(`${found.join('\n')}\n`);
  process.exitCode = 1;
}

function issuesIn(line: string, file: string): string[] {
  const words = RETIRED.filter((retired) => contains(line, file, retired));
  const isLong = /\.[ch]$/.test(file) && line.length > MAX_LINE;
  return [
    ...words.map(({ instead }) => `write ${instead}`),
    ...(isLong ? [`split this line of ${line.length} characters, the maximum is ${MAX_LINE}`] : []),
  ];
}

function contains(line: string, file: string, { pattern, except, within }: Retired): boolean {
  if (within !== undefined && !new RegExp(`^${within}`).test(file)) return false;
  if (!pattern.test(line)) return false;
  return pattern.test(
    except === undefined ? line : line.replaceAll(new RegExp(except, `g${except.flags}`), ''),
  );
}
