import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createApiKey } from '../../functions/platform/keys.ts';
import { freePort } from '../helpers/free-port.ts';
import { serveSources } from '../lab/sources.ts';
import type { Inputs } from './inputs.ts';
import { median, processTime } from './measure.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
/** Blocks of four calls (ours, other, other, ours) per row, and seconds after which a row ends anyway. */
const BLOCKS = { min: 6, max: 60 };
const ROW_SECONDS = 45;
/** Half the width of the interval at which a row ends, as a share of the ratio. */
const EXACT = 0.03;
const START_SECONDS = 180;

/** One row: parameters of a call. A list of values repeats a parameter. */
type Call = Readonly<Record<string, string | readonly string[]>>;

function rowsOf(inputs: Inputs, urlOf: (path: string) => string): Readonly<Record<string, Call>> {
  const file = (name: string) => urlOf(join(inputs.folder, name));
  const [text, table, scan] = [file('text-60.pdf'), file('table-60.pdf'), file('scan-12.pdf')];
  const pdf = (more: Call): Call => ({ app: 'pdftools', infile: text, outfile: 'a.pdf', ...more });
  return {
    'PDF page 1': { app: 'pdftools', infile: file('text-12.pdf'), outfile: 'a.jpg', '-r': '72' },
    'PDF of scans, page 1': { app: 'pdftools', infile: scan, outfile: 'a.jpg' },
    'PDF to text': pdf({ outfile: 'a.txt' }),
    'PDF to 12 pictures': { app: 'pdftools', infile: file('text-12.pdf'), outfile: 'a.png.zip', '-r': '72' },
    'PDF described': pdf({ outfile: 'a.json' }),
    'two PDFs merged': pdf({ '-append': table }),
    'PDF split into tens': pdf({ outfile: 'a.pdf.zip', '-split': '10' }),
    'PDF pages selected': pdf({ '-pages': '5-9' }),
    'PDF numbered': pdf({ '-number': '%p/%n' }),
    'PDF/A-2b': pdf({ infile: file('text-12.pdf'), '--pdf-version': 'PDF/A-2b' }),
    'picture 400x300': {
      app: 'imageproc',
      infile: file('photos/0.jpg'),
      outfile: 'a.jpg',
      '-resize': '400x300!',
    },
    '12 MP to 1200x900': {
      app: 'imageproc',
      infile: urlOf(inputs.photo),
      outfile: 'a.jpg',
      '-resize': '1200x900!',
    },
    'web page to PDF': { app: 'html2pdf', infile: file('note.html'), outfile: 'a.pdf' },
    'web page with footer': {
      app: 'html2pdf',
      infile: file('note.html'),
      outfile: 'a.pdf',
      '--footer-center': '[page]/[topage]',
    },
    'web page to PNG': { app: 'html2image', infile: file('note.html'), outfile: 'a.png' },
    'docx to PDF': { app: 'doc2any', infile: file('letter.docx'), outfile: 'a.pdf' },
    ...Object.fromEntries(
      inputs.documents
        .filter((path) => /\.(xlsx|pptx)$/.test(path))
        .map((path) => [
          `${relative(inputs.folder, path)} to PDF`,
          { app: 'doc2any', infile: urlOf(path), outfile: 'a.pdf' },
        ]),
    ),
  };
}

interface Side {
  readonly pid: number;
  call(parameters: Call): Promise<number>;
  close(): Promise<void>;
}

/**
 * Compares the service of this tree with that of another commit, which is built in a folder of its own: the same calls in turns, one
 * of each, on the same machine. Prints the ratio of times and of processor times, each with its interval.
 */
export async function compareCommits(
  commit: string,
  { inputs, out, row, say }: { inputs: Inputs; out: string; row: string; say: (text: string) => void },
): Promise<void> {
  const other = await build(commit, out, say);
  const sources = await serveSources((path) => readFile(join(inputs.folder, path)), {
    'cache-control': 'no-store',
  });
  const rows = rowsOf(inputs, (path) => sources.urlOf(relative(inputs.folder, path)));
  const sides = await Promise.all([ROOT, other].map((folder) => start(folder, sources.host)));
  const [ours, theirs] = sides as [Side, Side];
  console.log(
    `| work | this tree | ${commit} | time | processor time | blocks |\n| --- | ---: | ---: | --- | --- | ---: |`,
  );
  try {
    for (const [name, call] of Object.entries(rows)) {
      if (!name.toLowerCase().includes(row.toLowerCase())) continue;
      say(name);
      console.log(
        await compareRow(name, call, ours, theirs).catch(
          (thrown) => `| ${name} | ${String(thrown).slice(0, 120)} |`,
        ),
      );
    }
  } finally {
    await Promise.all(sides.map((side) => side.close()));
    sources.close();
  }
}

/** Builds a commit in a folder, with this tree's packages if it has the same ones. Layers that are equal are reused. */
async function build(commit: string, out: string, say: (text: string) => void): Promise<string> {
  const git = async (...args: readonly string[]) =>
    (await run('git', [...args], { cwd: ROOT })).stdout.trim();
  const hash = await git('rev-parse', '--verify', `${commit}^{commit}`);
  const folder = join(out, `commit-${hash.slice(0, 12)}`);
  if (!existsSync(folder)) await git('worktree', 'add', '--detach', folder, hash);
  const lock = (tree: string) => readFile(join(tree, 'package-lock.json'), 'utf8');
  if (!existsSync(join(folder, 'node_modules')) && (await lock(ROOT)) === (await lock(folder)))
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const part of ['cache', 'layers']) {
    await mkdir(join(folder, 'dist'), { recursive: true });
    if (!existsSync(join(folder, 'dist', part)))
      await cp(join(ROOT, 'dist', part), join(folder, 'dist', part), {
        recursive: true,
        verbatimSymlinks: true,
        preserveTimestamps: true,
      });
  }
  say(`Building ${hash.slice(0, 12)}`);
  await run(process.execPath, ['infra/local/setup.mjs'], { cwd: folder, maxBuffer: 1e8 });
  return folder;
}

async function start(folder: string, sourceHost: string): Promise<Side> {
  const [port, apiKey, directory] = [
    await freePort(),
    createApiKey(),
    await mkdtemp(join(tmpdir(), 'bench-')),
  ];
  const unlimited = { LIMIT_PER_MINUTE: '0', LIMIT_PER_MONTH: '0', LIMIT_CONCURRENT: '0' };
  const child = spawn(process.execPath, ['infra/local/main.ts'], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: directory,
      TMPDIR: directory,
      DATA_DIR: join(directory, 'data'),
      PORT: String(port),
      API_KEY: apiKey,
      ALLOW_SOURCES: sourceHost,
      LOG_LEVEL: 'warn',
      ...unlimited,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const base = `http://127.0.0.1:${port}`;
  for (let left = START_SECONDS; ; left -= 1) {
    if (
      await fetch(`${base}/api/health`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      break;
    if (left === 0 || child.exitCode !== null) throw new Error(`The service in ${folder} did not start.`);
    await sleep(1000);
  }
  return {
    pid: child.pid!,
    async call(parameters) {
      const query = new URLSearchParams({ apikey: apiKey });
      for (const [name, value] of Object.entries(parameters))
        for (const each of [value].flat()) query.append(name, each);
      const sent = performance.now();
      const text = await (await fetch(`${base}/api/?${query}`)).text();
      if (!text.startsWith('[Output] ')) throw new Error(text.slice(0, 300));
      return performance.now() - sent;
    },
    async close() {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** A number of two sides in one block. */
type Pair = readonly [ours: number, theirs: number];

async function compareRow(name: string, call: Call, ours: Side, theirs: Side): Promise<string> {
  for (let count = 0; count < 3; count += 1) for (const side of [ours, theirs]) await side.call(call);
  const times: Pair[] = [];
  const work: Pair[] = [];
  const single: [number[], number[]] = [[], []];
  const end = performance.now() + 1000 * ROW_SECONDS;
  while (
    times.length < BLOCKS.max &&
    (times.length < BLOCKS.min || (performance.now() < end && intervalOf(times) > EXACT))
  ) {
    const before = [processTime(ours.pid), processTime(theirs.pid)];
    const [first, second, third, fourth] = [
      await ours.call(call),
      await theirs.call(call),
      await theirs.call(call),
      await ours.call(call),
    ];
    single[0].push(first, fourth);
    single[1].push(second, third);
    times.push([first + fourth, second + third]);
    const spent: Pair = [processTime(ours.pid) - before[0]!, processTime(theirs.pid) - before[1]!];
    // The kernel drops the time of some processes as they exit. Such a block says nothing.
    if (Math.min(...spent) > 0) work.push(spent);
  }
  const milliseconds = single.map((each) => `${median(each).toFixed(1)} ms`).join(' | ');
  return `| ${name} | ${milliseconds} | ${ratioOf(times)} | ${ratioOf(work)} | ${times.length} |`;
}

/** Returns the ratio of two sums, which long blocks decide about, with its interval of 95 %. */
function ratioOf(pairs: readonly Pair[]): string {
  const ratio = quotientOf(pairs);
  const half = intervalOf(pairs) * ratio;
  const verdict = ratio - half > 1 ? ' slower' : ratio + half < 1 ? ' faster' : '';
  return `${ratio.toFixed(3)} ± ${half.toFixed(3)}${verdict}`;
}

function quotientOf(pairs: readonly Pair[]): number {
  const sum = (index: 0 | 1) => pairs.reduce((total, pair) => total + pair[index], 0);
  return sum(0) / sum(1);
}

/** Returns half the width of the interval, as a share of the ratio. */
function intervalOf(pairs: readonly Pair[]): number {
  const ratio = quotientOf(pairs);
  const total = pairs.reduce((sum, [, theirs]) => sum + theirs, 0);
  const variance = pairs.reduce((sum, [own, theirs]) => sum + (own - ratio * theirs) ** 2, 0);
  return (1.96 * Math.sqrt((variance * pairs.length) / Math.max(1, pairs.length - 1))) / (total * ratio);
}
