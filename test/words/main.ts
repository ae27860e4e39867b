// Fails if a retired word is back, or if a line of C or the subject of a new commit is too long: part of `npm run check`.
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RETIRED, type Retired } from './words.ts';

const ROOT = join(import.meta.dirname, '../..');
const FILES = globSync(['{functions,infra,layers,test}/**/*.{ts,mjs,c,h,md,sh}', '.github/*.md', '*.md'], {
  cwd: ROOT,
}).filter((file) => !file.startsWith('test/words/') && !file.endsWith('CHANGELOG.md'));

/** Maximum characters of a line of C. Biome wraps the other languages. */
const MAX_LINE = 130;
const MAX_SUBJECT = 72;

const found = FILES.flatMap((file) =>
  readFileSync(join(ROOT, file), 'utf8')
    .split('\n')
    .flatMap((line, index) =>
      issuesIn(line, file).map((issue) => `${file}:${index + 1}: ${issue}: ${line.trim()}`),
    ),
);
found.push(
  ...newSubjects()
    .filter((subject) => subject.length > MAX_SUBJECT)
    .map((subject) => `commit: shorten this subject to ${MAX_SUBJECT} characters: ${subject}`),
);
if (found.length > 0) {
  process.stderr.write(`${found.join('\n')}\n`);
  process.exitCode = 1;
}

/** Returns the subjects of the commits that `origin/main` lacks, or that of the last commit where there is no such branch. */
function newSubjects(): string[] {
  const subjects = (...range: string[]) =>
    spawnSync('git', ['log', '--format=%s', ...range], { cwd: ROOT, encoding: 'utf8' });
  const ahead = subjects('origin/main..HEAD');
  const { stdout } = ahead.status === 0 ? ahead : subjects('-1');
  return stdout?.split('\n') ?? [];
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
