// Converts 1,000 files to JPEG with `npm run convert`, killed three times while it works, and again with the original programs in a shell loop:
// `node_modules/.bin/node test/bench/thousand.ts [--count N] [--office SOFFICE]`. Needs ImageMagick, pdftoppm and wkhtmltoimage, and
// LibreOffice for texts; files of programs that are missing are left out of both. Run it on an idle machine.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { quarters } from '../fixtures/image.ts';
import { chapters } from '../fixtures/page.ts';
import { makePdf, numberedPages } from '../fixtures/pdf.ts';
import { isInstalled } from '../helpers/processes.ts';
import { readArguments, readInteger } from '../run/report.ts';

const { values, fail } = readArguments(
  'node_modules/.bin/node test/bench/thousand.ts [--count N] [--office SOFFICE]',
  {
    count: { type: 'string', default: '1000' },
    office: { type: 'string', default: 'soffice' },
  },
);
const count = readInteger(['count', values.count], { min: 10 }, fail);
const MAIN = join(import.meta.dirname, '../../infra/convert/main.ts');
/** Shares of the files after which the command is killed. */
const KILLS = [0.2, 0.45, 0.7];

interface Kind {
  readonly extension: string;
  readonly share: number;
  readonly program: string;
  content(index: number): Promise<Buffer | string> | Buffer | string;
  /** A shell command for the file `$1`, whose result belongs to the folder `$2`. */
  readonly command: string;
}

const KINDS: readonly Kind[] = [
  {
    extension: 'png',
    share: 0.4,
    program: 'convert',
    content: (index) =>
      quarters(600 + (index % 100), 400)
        .png()
        .toBuffer(),
    command: 'convert "$1" "$2/$(basename "$1").jpg"',
  },
  {
    extension: 'pdf',
    share: 0.3,
    program: 'pdftoppm',
    content: (index) => makePdf(numberedPages(1 + (index % 3))),
    command: 'pdftoppm -jpeg -r 150 -singlefile "$1" "$2/$(basename "$1")"',
  },
  {
    extension: 'html',
    share: 0.2,
    program: 'wkhtmltoimage',
    content: (index) => chapters(1 + (index % 3)),
    command: 'wkhtmltoimage -q "$1" "$2/$(basename "$1").jpg"',
  },
  {
    extension: 'txt',
    share: 0.1,
    program: values.office,
    content: (index) => `This is text ${index}.\n`.repeat(40),
    command: `'${values.office}' --headless -env:UserInstallation="file://$2/profile-$$" --convert-to jpg --outdir "$2" "$1" >/dev/null`,
  },
];

const missing = KINDS.filter(({ program }) => !isInstalled(program));
for (const { program, extension } of missing)
  say(`${program} is not installed, so there are no .${extension} files.`);
const kinds = KINDS.filter((kind) => !missing.includes(kind));
const directory = mkdtempSync(join(tmpdir(), 'thousand-'));
try {
  const sources = join(directory, 'sources');
  mkdirSync(sources);
  const whole = kinds.reduce((sum, { share }) => sum + share, 0);
  for (const { extension, share, content } of kinds)
    for (let index = 0; index < Math.round((count * share) / whole); index++)
      writeFileSync(join(sources, `file-${index}.${extension}`), await content(index));
  const names = readdirSync(sources);
  say(
    `${names.length} files: ${kinds.map(({ extension }) => `${names.filter((name) => name.endsWith(extension)).length} ${extension}`).join(', ')}`,
  );

  await convertKilled(sources, names);
  const own = await timed(async () => {
    const [code] = await once(start([sources, '--to', join(directory, 'own/'), '--format', 'jpg']), 'exit');
    if (code !== 0) throw new Error(`npm run convert ended with ${code}.`);
  });
  say(`npm run convert: ${own} s`);
  for (const jobs of new Set([1, availableParallelism()])) {
    const peers = await timed(async () => {
      for (const kind of kinds) loop(kind, sources, jobs);
    });
    say(`the original programs, ${jobs} at a time: ${peers} s`);
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** Kills the command three times while it converts, lets it end, and checks that each file was converted once. */
async function convertKilled(sources: string, names: readonly string[]): Promise<void> {
  const target = join(directory, 'killed/');
  const ledger = join(target, '.docmill.jsonl');
  const rows = () => (existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : []);
  const args = [sources, '--to', target, '--format', 'jpg'];
  const kills: number[] = [];
  for (const share of KILLS) {
    const child = start(args);
    while (rows().length < share * names.length && child.exitCode === null) await setTimeout(5);
    if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode} before it was killed.`);
    child.kill('SIGKILL');
    await once(child, 'exit');
    kills.push(rows().length);
  }
  const [code] = await once(start(args), 'exit');
  const done = rows().map((row) => basename((JSON.parse(row) as { input: string }).input));
  const twice = done.filter((name, index) => done.indexOf(name) !== index);
  const lost = names.filter((name) => !done.includes(name));
  const parts = readdirSync(target).filter((name) => name.endsWith('.part'));
  const results = readdirSync(target).filter((name) => name.endsWith('.jpg'));
  say(
    `killed after ${kills.join(', ')} files, then exit status ${code}: ${results.length} results, ${lost.length} lost, ${twice.length} twice, ${parts.length} parts left`,
  );
  if (code !== 0 || lost.length + twice.length + parts.length > 0 || results.length !== names.length)
    process.exitCode = 1;
}

function start(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
}

function loop({ extension, command }: Kind, sources: string, jobs: number): void {
  const target = join(directory, `peers-${jobs}`);
  mkdirSync(target, { recursive: true, mode: 0o700 });
  const each = `find '${sources}' -name '*.${extension}' -print0 | xargs -0 -P ${jobs} -I{} sh -c '${command.replaceAll("'", `'\\''`)}' sh {} '${target}'`;
  // wkhtmltoimage warns without such a folder.
  const env = { ...process.env, XDG_RUNTIME_DIR: target };
  const { status } = spawnSync('sh', ['-c', each], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error(`The loop over .${extension} ended with ${status}.`);
}

async function timed(work: () => Promise<unknown>): Promise<string> {
  const started = performance.now();
  await work();
  return ((performance.now() - started) / 1000).toFixed(1);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
