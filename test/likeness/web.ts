import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, glob, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, normalize, resolve } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { inParallel } from '../../layers/build/command.ts';
import { startBrowsers } from '../functions/engines/chromium/page-server.ts';
import { drawPage, readPdf } from '../helpers/pdf.ts';
import { serveSources } from '../lab/sources.ts';
import { type Chromium, LATER, type Look, SETTLE_TIME, startChromium, type Visit } from './chromium.ts';
import { BOUND, type Comparison, differingPixels, report, TOLERANCE } from './comparison.ts';
import { WEB_CASES, type WebCase } from './web-cases.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Number of concurrent pages. Most of the time is spent waiting for the other browser. */
const WIDTH = 2;
/** Pages whose scripts draw, animate and load in steps, and how often each is converted. */
const RACY = [
  'startbootstrap-sb-admin-2-4.1.4/package/charts.html',
  'gentelella-1.4.0/package/production/echarts.html',
  'dc-2.1.10/package/web/examples/scatter-brushing.html',
  'mermaid-0.5.8/package/test/examples/simpleBasteTag.html',
  'mermaid-0.5.8/package/test/examples/seq.html',
  'mathjax-2.7.9/package/test/sample-eqnum.html',
  'morris.js-0.5.0/package/examples/area.html',
] as const;
const RUNS = 10;
/** Packages of pages without slide shows or random data, for the option sets. */
const STILL = 'admin-lte,startbootstrap,tabler-ui,jsgrid,spectre,dygraphs,morris';
/** Milliseconds. */
const TIMEOUT = 60_000;

/** The default options of both tools. */
const DEFAULTS: readonly WebCase[] = [
  { tool: 'html2image', options: {}, look: {}, format: 'png' },
  { tool: 'html2pdf', options: {}, look: {} },
];

/**
 * Compares the images and PDFs of web pages from public packages with Chromium's own after four seconds.
 * `--only=options` compares each option set with a page instead (`--only=optionsTEXT` those whose name
 * contains the text), `--only=racy` ten results of pages that change in steps, and `--only=TEXT` pages whose
 * path contains the text.
 */
export async function run(given: string, { limit, only }: { limit: number; only: string }): Promise<number> {
  const folder = resolve(given);
  const trials = chooseTrials(await downloadPages(folder), limit, only);

  const server = await serveSources((path) => readFile(join(folder, normalize(path))));
  const rules = { exceptions: [`127.0.0.1:${server.port}`] };
  const [cameras, printers] = await Promise.all([
    startBrowsers('html2image', rules),
    startBrowsers('html2pdf', rules),
  ]);
  const references = new References(
    () => startChromium(join(ROOT, 'dist/layers')),
    join(folder, '.references'),
  );

  const comparisons = await inParallel(trials, WIDTH, async ({ one, page }): Promise<Comparison> => {
    const { tool, options, format, look } = one;
    const url = server.urlOf(page);
    const isPdf = tool === 'html2pdf';
    const sides = {
      ours: async () => {
        const { path, settled } = isPdf
          ? await printers.convert(url, options, { time: TIMEOUT })
          : await cameras.convert(url, options, { format: format!, time: TIMEOUT });
        const bytes = await readFile(path);
        return { picture: isPdf ? await drawPdf(bytes) : bytes, settled };
      },
      theirs: (visit: Visit) =>
        references.picture(isPdf ? 'pdf' : 'image', `http://${server.host}`, page, look, visit),
    };
    const compared = await compareOne(`${page} (${nameOf(one)})`, sides, isPdf ? 'pdf' : windowHeight(one));
    const { name, difference, excluded, explained } = compared;
    console.error(`${excluded ?? `${(100 * difference).toFixed(2)} %`} ${name} ${explained ?? ''}`);
    return compared;
  });
  await Promise.all([cameras.close(), printers.close(), references.close(), server.close()]);
  process.stdout.write(`${report(comparisons)}\n`);
  return 0;
}

interface Trial {
  readonly one: WebCase;
  readonly page: string;
}

function chooseTrials(packages: string[][], limit: number, only: string): Trial[] {
  if (only === 'racy') {
    return RACY.flatMap((page) => Array.from({ length: RUNS }, () => ({ one: DEFAULTS[0]!, page })));
  }
  if (only.startsWith('options')) {
    const part = only.slice('options'.length);
    const pages = choosePages(packages, limit, STILL);
    // The page of an option set is the same whether it is compared alone or with all others.
    return WEB_CASES.map((one, index) => ({ one, page: pages[index % pages.length]! })).filter(
      ({ one, page }) => `${page} (${nameOf(one)})`.includes(part),
    );
  }
  return choosePages(packages, limit, only).flatMap((page) => DEFAULTS.map((one) => ({ one, page })));
}

function nameOf({ tool, options, format }: WebCase): string {
  const given = Object.entries(options).map(([name, value]) => (value === '' ? name : `${name}=${value}`));
  return [tool === 'html2pdf' ? 'PDF' : format === 'png' ? 'image' : format, ...given].join(' ');
}

function windowHeight({ look: { viewport, image } }: WebCase): number {
  return image?.window || image?.clip ? 0 : (viewport?.height ?? 768) * (viewport?.deviceScaleFactor ?? 1);
}

interface Package {
  readonly name: string;
  readonly version: string;
  /** As its package.json or its license file says. */
  readonly license: string;
  readonly pages: readonly string[];
}

/**
 * Packages whose pages are converted: charts, dashboards, tables, diagrams, formulas, networks, slides,
 * documentation, CSS, themes. None of them is part of this project.
 */
const PACKAGES: readonly Package[] = [
  // Bootstrap, Chart.js 1, DataTables, FullCalendar, Morris, Flot.
  { name: 'admin-lte', version: '2.4.18', license: 'MIT', pages: ['*.html', 'pages/**/*.html'] },
  // Bootstrap, Chart.js 2, ECharts 3, DataTables, jQuery plugins.
  {
    name: 'gentelella',
    version: '1.4.0',
    license: 'MIT',
    pages: ['production/*.html', 'vendors/Chart.js/samples/**/*.html', 'vendors/jqvmap/examples/*.html'],
  },
  // Bootstrap 4, Chart.js 2, DataTables.
  { name: 'startbootstrap-sb-admin-2', version: '4.1.4', license: 'MIT', pages: ['*.html'] },
  // Bootstrap 4, C3, D3, documentation.
  { name: 'tabler-ui', version: '0.0.34', license: 'MIT', pages: ['dist/**/*.html'] },
  { name: 'chart.js', version: '1.1.1', license: 'MIT', pages: ['samples/*.html'] },
  // D3, crossfilter.
  {
    name: 'dc',
    version: '2.1.10',
    license: 'Apache-2.0',
    pages: ['web/{examples,resizing,transitions}/*.html'],
  },
  { name: 'mermaid', version: '0.5.8', license: 'MIT', pages: ['dist/www/*.html', 'test/examples/*.html'] },
  { name: 'morris.js', version: '0.5.0', license: 'BSD-2-Clause', pages: ['examples/*.html'] },
  { name: 'mathjax', version: '2.7.9', license: 'Apache-2.0', pages: ['test/*.html'] },
  { name: 'jsgrid', version: '1.5.3', license: 'MIT', pages: ['demos/*.html'] },
  { name: 'aos', version: '2.3.4', license: 'MIT', pages: ['demo/*.html'] },
  { name: 'dygraphs', version: '2.2.2', license: 'MIT', pages: ['**/*.html'] },
  { name: 'nvd3', version: '1.8.6', license: 'Apache-2.0', pages: ['**/*.html'] },
  { name: 'spectre.css', version: '0.5.9', license: 'MIT', pages: ['**/*.html'] },
  { name: 'vis', version: '4.21.0', license: 'Apache-2.0 OR MIT', pages: ['**/*.html'] },
  { name: 'impress.js', version: '1.1.0', license: 'MIT', pages: ['**/*.html'] },
  { name: 'reveal.js', version: '6.0.2', license: 'MIT', pages: ['**/*.html'] },
  // Sticky and fixed elements, sliders, lazy images, parallax.
  { name: 'uikit', version: '3.21.0', license: 'MIT', pages: ['tests/*.html'] },
  { name: 'startbootstrap-agency', version: '7.0.12', license: 'MIT', pages: ['dist/*.html'] },
  { name: 'startbootstrap-clean-blog', version: '6.0.9', license: 'MIT', pages: ['dist/*.html'] },
  { name: 'startbootstrap-creative', version: '7.0.7', license: 'MIT', pages: ['dist/*.html'] },
  { name: 'startbootstrap-resume', version: '7.0.6', license: 'MIT', pages: ['dist/*.html'] },
];

const execute = promisify(execFile);

/** Downloads and unpacks the packages that are not in the folder yet. Returns the pages of each, as paths below it. */
async function downloadPages(folder: string): Promise<string[][]> {
  const all: string[][] = [];
  for (const { name, version, pages } of PACKAGES) {
    const directory = join(folder, `${name}-${version}`);
    if (!(await exists(join(directory, 'package')))) {
      await mkdir(directory, { recursive: true });
      const packed = await execute('npm', ['pack', '--silent', `${name}@${version}`], { cwd: directory });
      await execute('tar', ['--extract', '--file', packed.stdout.trim(), '--warning=no-unknown-keyword'], {
        cwd: directory,
      });
    }
    const found: string[] = [];
    for await (const page of glob([...pages], { cwd: join(directory, 'package') })) {
      found.push(join(`${name}-${version}`, 'package', page));
    }
    all.push(found.sort());
  }
  return all;
}

/**
 * Returns up to `limit` pages whose path contains `only`, or one of its parts between commas: as many of each
 * package, spread evenly over it.
 */
function choosePages(packages: readonly (readonly string[])[], limit: number, only = ''): string[] {
  const wanted = packages
    .map((pages) => pages.filter((page) => only.split(',').some((part) => page.includes(part))))
    .filter(({ length }) => length > 0)
    .toSorted((one, other) => one.length - other.length);
  const chosen: string[] = [];
  for (const [index, pages] of wanted.entries()) {
    const share = Math.ceil((limit - chosen.length) / (wanted.length - index));
    chosen.push(...spread(pages, share));
  }
  return chosen;
}

function spread<Value>(all: readonly Value[], limit: number): Value[] {
  if (all.length <= limit) return [...all];
  return Array.from({ length: limit }, (_, index) => all[Math.floor((index * all.length) / limit)]!);
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

const OUTLIERS = join(import.meta.dirname, '../../dist/likeness/outliers');

interface Sides {
  /** Our result, and whether the page looked still. */
  ours(): Promise<{ picture: Buffer; settled: boolean | undefined }>;
  /** Returns Chromium's own result of one of its visits. */
  theirs(visit: Visit): Promise<Buffer>;
}

/** The window of Chromium, CSS pixels; 0 where the picture is not as tall as the window at least. A PDF has none. */
type WindowHeight = number | 'pdf';

/** Intended differences, with the visit at which Chromium shows the same. */
const WANTED: readonly { readonly visit: Visit; readonly reason: string; readonly of?: 'pdf' | 'image' }[] = [
  {
    visit: 'tables',
    reason: 'table headers and footers are repeated on each page, as for print media',
    of: 'pdf',
  },
  {
    visit: 'lowered',
    reason: 'what is fixed to the bottom of the window is at the bottom of the image',
    of: 'image',
  },
  { visit: 'resized', reason: 'the page changes when its window is as tall as itself for a moment' },
];

/**
 * Compares ours with Chromium's own. If they differ, Chromium visits the page again, and once more to scroll through it:
 * ours must be like one of the three. Otherwise looks for an explanation.
 */
async function compareOne(name: string, sides: Sides, window: WindowHeight): Promise<Comparison> {
  try {
    const theirs = await sides.theirs('first');
    if (await isBlank(theirs)) return { name, difference: 0, excluded: 'blank' };
    const { picture: ours, settled } = await sides.ours();
    const differ = async (other: Buffer) => differingPixels(ours, await withoutRest(other, ours, window));
    const note = settled === false ? { note: 'never looks still' } : {};
    let difference = await differ(theirs);
    for (const visit of ['again', 'scrolled'] as const) {
      if (difference <= BOUND) break;
      difference = Math.min(difference, await differ(await sides.theirs(visit)));
    }
    if (difference <= BOUND) return { name, difference, ...note };
    await keep(name, ours, theirs);
    const random = await restless(theirs, sides, difference);
    if (random !== undefined) return { name, difference, explained: random, isRandom: true };
    const explained = await wanted(sides, differ, window);
    return { name, difference, ...note, ...(explained === undefined ? {} : { explained }) };
  } catch (thrown) {
    if (thrown instanceof NoReference) {
      return { name, difference: Number.NaN, excluded: `no reference: ${thrown.message}` };
    }
    return { name, difference: Number.NaN, note: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

/** Tells how a page differs from itself that has no settled look to compare with: about as much as ours differs. */
async function restless(theirs: Buffer, sides: Sides, difference: number): Promise<string | undefined> {
  const bound = Math.min(BOUND, difference / 2);
  const percent = (share: number) => `${(100 * share).toFixed(2)} %`;
  const again = await differingPixels(theirs, await sides.theirs('again'));
  if (again > bound) return `Chromium's own differs by ${percent(again)} from visit to visit`;
  const later = await differingPixels(theirs, await sides.theirs('later'));
  if (later <= bound) return undefined;
  return `Chromium's own changes by ${percent(later)} from ${SETTLE_TIME / 1000} to ${LATER / 1000} s after load`;
}

async function wanted(
  sides: Sides,
  differ: (other: Buffer) => Promise<number>,
  window: WindowHeight,
): Promise<string | undefined> {
  const kind = window === 'pdf' ? 'pdf' : 'image';
  for (const { visit, reason, of = kind } of WANTED) {
    if (of !== kind) continue;
    if ((await differ(await sides.theirs(visit))) <= BOUND) return reason;
  }
  return undefined;
}

async function isBlank(picture: Buffer, tolerance = 0): Promise<boolean> {
  const { channels } = await sharp(picture, { limitInputPixels: false }).stats();
  return channels.every(({ min, max }) => max - min <= tolerance);
}

/** Cuts off what a window shows below the end of a shorter page, if it is blank except for the edge of a shadow. */
async function withoutRest(theirs: Buffer, ours: Buffer, window: WindowHeight): Promise<Buffer> {
  const [{ height }, { width, height: whole }] = [
    await sharp(ours).metadata(),
    await sharp(theirs).metadata(),
  ];
  if (whole !== window || height >= whole) return theirs;
  const cut = (top: number, bottom: number) =>
    sharp(theirs)
      .extract({ left: 0, top, width, height: bottom - top })
      .png()
      .toBuffer();
  return (await isBlank(await cut(height, whole), TOLERANCE)) ? cut(0, height) : theirs;
}

/** Keeps both pictures of an outlier in `dist/likeness/outliers`, to be looked at. */
async function keep(name: string, ours: Buffer, theirs: Buffer): Promise<void> {
  await mkdir(OUTLIERS, { recursive: true });
  const path = join(OUTLIERS, name.replaceAll(/[^\w.=-]+/g, '_'));
  await Promise.all([writeFile(`${path}.ours.png`, ours), writeFile(`${path}.theirs.png`, theirs)]);
}

/** Number of pages of a PDF that are drawn. */
const PAGES = 5;

/** How often Chromium tries to show a page, the last time in a browser of its own. */
const ATTEMPTS = 3;

/** Chromium itself could not show the page, so there is nothing to compare with. */
class NoReference extends Error {}

/**
 * Pictures that Chromium made of pages. They are kept, because neither the browser nor the packages change. A
 * page that fails is tried again, in a new browser if the first one has ended.
 */
class References {
  readonly #start: () => Promise<Chromium>;
  readonly #folder: string;
  #current: Promise<Chromium> | undefined;

  constructor(start: () => Promise<Chromium>, folder: string) {
    this.#start = start;
    this.#folder = folder;
  }

  /**
   * Returns a PNG of the page, or of its PDF.
   * @throws NoReference
   */
  async picture(
    kind: 'image' | 'pdf',
    origin: string,
    page: string,
    look: Look,
    visit: Visit,
  ): Promise<Buffer> {
    const { version } = await this.#browser();
    const key = JSON.stringify([version, kind, page, look, visit]);
    const path = join(this.#folder, `${createHash('sha256').update(key).digest('hex').slice(0, 24)}.png`);
    const kept = await readFile(path).catch(() => undefined);
    if (kept) return kept;
    const url = `${origin}/${page.split('/').map(encodeURIComponent).join('/')}`;
    const made =
      kind === 'image'
        ? await sharp(await this.#retry(({ image }) => image(url, look, visit)), {
            limitInputPixels: false,
          })
            .png()
            .toBuffer()
        : await drawPdf(await this.#retry(({ pdf }) => pdf(url, look, visit)));
    await mkdir(this.#folder, { recursive: true });
    await writeFile(path, made);
    return made;
  }

  async close(): Promise<void> {
    await (await this.#current)?.close();
  }

  #browser(): Promise<Chromium> {
    this.#current ??= this.#start();
    return this.#current;
  }

  async #retry<Value>(work: (chromium: Chromium) => Promise<Value>): Promise<Value> {
    for (let attempt = 1; attempt < ATTEMPTS; attempt++) {
      const current = this.#browser();
      const chromium = await current;
      try {
        return await work(chromium);
      } catch {
        if (!chromium.isRunning() && this.#current === current) this.#current = undefined;
      }
    }
    const own = await this.#start();
    try {
      return await work(own);
    } catch (cause) {
      throw new NoReference(cause instanceof Error ? cause.message : String(cause), { cause });
    } finally {
      await own.close();
    }
  }
}

/** Draws the first pages of a PDF at 72 DPI, one below the other. */
async function drawPdf(pdf: Buffer): Promise<Buffer> {
  const { pages } = await readPdf(pdf);
  const drawn: Buffer[] = [];
  for (let page = 1; page <= Math.min(PAGES, pages.length); page++) drawn.push(await drawPage(pdf, page));
  if (drawn.length === 1) return drawn[0]!;
  return sharp(drawn, { join: { across: 1 } })
    .png()
    .toBuffer();
}
