// Fails if a retired word is back: part of `npm run check`.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RETIRED, type Retired } from './words.ts';

const ROOT = join(import.meta.dirname, '../..');
const FILES = globSync(['{functions,infra,layers,test}/**/*.{ts,mjs,c,h,md,sh}', '.github/*.md', '*.md'], {
  cwd: ROOT,
}).filter((file) => !file.startsWith('test/words/') && !file.endsWith('CHANGELOG.md'));

const found = FILES.flatMap((file) =>
  readFileSync(join(ROOT, file), 'utf8')
    .split('\n')
    .flatMap((line, index) =>
      RETIRED.filter((retired) => contains(line, file, retired)).map(
        ({ instead }) => `${file}:${index + 1}: write ${instead}: ${line.trim()}`,
      ),
    ),
);
if (found.length > 0) {
  process.stderr.write(`${found.join('\n')}\n`);
  process.exitCode = 1;
}

function contains(line: string, file: string, { pattern, except, within }: Retired): boolean {
  if (within !== undefined && !new RegExp(`^${within}`).test(file)) return false;
  if (!pattern.test(line)) return false;
  return pattern.test(
    except === undefined ? line : line.replaceAll(new RegExp(except, `g${except.flags}`), ''),
  );
}
