import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Driven, startDriven } from '../../peers/driven.ts';
import { runProgram } from '../../peers/peers.ts';
import { type Bench, compare, inDirectory, type Row } from '../row.ts';

const SCRIPT = join(import.meta.dirname, '../../peers/drive-browser.ts');
// As root, Chromium refuses to start with its sandbox.
const CHROMIUM = ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars'];
// The Debian build draws with Qt, which looks for a display unless told otherwise.
const NO_DISPLAY = { QT_QPA_PLATFORM: 'offscreen', XDG_RUNTIME_DIR: '/tmp' };

/** Outputs of pages, with targets relative to a process per page, wkhtmltox, and a warm browser. */
const KINDS = [
  {
    app: 'html2pdf',
    work: 'web page to PDF',
    extension: 'pdf',
    print: 'print-to-pdf',
    classic: 'wkhtmltopdf',
    targets: { chromium: 0.08, classic: 0.25, idle: 0.3, load: 1 },
  },
  {
    app: 'html2image',
    work: 'web page to PNG',
    extension: 'png',
    print: 'screenshot',
    classic: 'wkhtmltoimage',
    targets: { chromium: 0.1, classic: 0.3, idle: 0.3, load: 1 },
  },
] as const;

/** Web pages to PDF and to an image. */
export async function measureWeb(bench: Bench): Promise<Row[]> {
  const warm = bench.peers.found.chromium ? await startBrowser(bench) : undefined;
  try {
    const rows: Row[] = [];
    for (const kind of KINDS) rows.push(...(await measureKind(bench, kind, warm)));
    return rows;
  } finally {
    await warm?.close();
  }
}

/** Starts a script that keeps one browser. */
export async function startBrowser({ peers, directory }: Bench): Promise<Driven> {
  const folder = join(directory, 'browser');
  await mkdir(folder, { recursive: true });
  return startDriven(process.execPath, [SCRIPT, peers.found.chromium!, folder]);
}

async function measureKind(
  bench: Bench,
  { app, work, extension, print, classic, targets }: (typeof KINDS)[number],
  warm: Driven | undefined,
): Promise<Row[]> {
  const { chromium, [classic]: old } = bench.peers.found;
  const run = (program: string, args: (directory: string, output: string) => readonly string[]) =>
    inDirectory(bench.directory, async (directory) => {
      const output = join(directory, `page.${extension}`);
      return (await runProgram(program, args(directory, output), NO_DISPLAY)).milliseconds;
    });
  const perPage = (page: string) =>
    run(chromium!, (directory, output) => [
      ...CHROMIUM,
      `--user-data-dir=${join(directory, 'profile')}`,
      `--${print}=${output}`,
      '--window-size=1024,768',
      bench.urlOf(page),
    ]);
  const kept = (waitUntil: string) => (page: string) =>
    warm!.convert(JSON.stringify([extension, waitUntil, bench.urlOf(page)]));
  return compare(bench, work, bench.inputs.pages, {
    ours: (page) => ({ app, infile: bench.urlOf(page), outfile: `page.${extension}` }),
    peers: [
      ...(chromium ? [{ name: 'chromium', target: targets.chromium, run: perPage }] : []),
      ...(old
        ? [
            {
              name: classic,
              target: targets.classic,
              run: (page: string) => run(old, (_directory, output) => ['-q', bench.urlOf(page), output]),
            },
          ]
        : []),
      ...(warm
        ? [
            { name: 'warm puppeteer, networkidle0', target: targets.idle, run: kept('networkidle0') },
            { name: 'warm puppeteer, load', target: targets.load, run: kept('load') },
          ]
        : []),
    ],
    seconds: bench.quick ? 4 : 45,
  });
}
