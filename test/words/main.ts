import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A word or a form that this project does not use. */
interface Retired {
  readonly pattern: RegExp;
  /** What to write. */
  readonly instead: string;
  /** Names of others that contain it. They are removed from a line before it is searched. */
  readonly except?: RegExp;
  /** Beginning of the paths that it applies to. All by default. */
  readonly within?: string;
}

const RETIRED: readonly Retired[] = [
  { pattern: /colour/i, instead: 'color', except: /@img\/colour|-colourful/ },
  // Colors of ImageMagick, and a color space of libvips.
  { pattern: /grey/i, instead: 'gray', except: /grey\d+|'-grey'/ },
  { pattern: /neighbour/i, instead: 'neighbor' },
  { pattern: /licence/i, instead: 'license' },
  { pattern: /artefact/i, instead: 'artifact' },
  { pattern: /e-mail/i, instead: 'email, or email address' },
  { pattern: /for ever\b/i, instead: 'forever' },
  { pattern: /metres?(?![a-z])/i, instead: 'meter' },
  // Its signals can stay in memory forever.
  { pattern: /AbortSignal\.any\(/, instead: 'withAnySignal(', within: 'functions|infra' },
  {
    pattern: /tenant/i,
    instead: 'account',
    // AWS's own terms.
    except: /[tT]enant(?:Id|ID| ID|Isolation| isolation)|TENANT\w*/,
    within: 'functions/(?!README)',
  },
  { pattern: /\bwalls?\b/i, instead: 'sandbox', except: /-Wall\b/ },
  { pattern: /\bMOST_|\bmost(?:[A-Z]|\??:)/, instead: 'MAX_, max…' },
  {
    pattern:
      /\b(?:[A-Z]+_)*(?:MOST|LEAST|LONGEST|SHORTEST|TALLEST|WIDEST|SMALLEST|LARGEST|BIGGEST|FASTEST|SLOWEST|FARTHEST|DEEPEST|HIGHEST|LOWEST)(?:_[A-Z]+)*\b/,
    instead: 'MAX_ or MIN_ with the name of the quantity',
    within: '.*\\.(?:ts|mjs)$',
  },
  { pattern: /\bservants?\b/i, instead: 'helper process' },
  { pattern: /\bstrays\b/i, instead: 'orphans' },
  {
    pattern: /\baddress(?:es)?\b/i,
    instead: 'URL, or IP address',
    // `sign('address')` would end the validity of all URLs if it changed.
    except:
      /(?:IP|IPv4|IPv6|email|another|own|link-local|loopback) address(?:es)?|\.address\b|sign\('address'|ip-address\.ts|RangeAddress/i,
    // The page for everyone uses the word that people know.
    within: 'functions/(?!README|shared/egress|engines/chromium/proxy|site/front-texts)',
  },
  {
    pattern: /^\s*(?:\/\*\*|\/\/|#|\*) (?:What|Whatever|Those|That of|For (?![^,]*,))\b/,
    instead: 'a sentence with a verb',
  },
  {
    pattern:
      /^\s*(?:\/\*\*|\/\/|#|\*) (?:Milliseconds|Bytes|Characters|Of|Who|Is told)\b.*\b(?:which|that)\b/,
    instead: 'Timeout for …, Maximum …, How long … or a verb',
  },
];

// Fails if a retired word is back, or if a line of C or the subject of a new commit is too long: part of `npm run check`.

const ROOT = join(import.meta.dirname, '../..');
const FILES = globSync(['{functions,infra,layers,test}/**/*.{ts,mjs,c,h,md,sh}', '.github/*.md', '*.md'], {
  cwd: ROOT,
}).filter((file) => !/^test\/words\/|CHANGELOG\.md$|^functions\/site\/texts\/(de|fr)\.ts$/.test(file));

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
