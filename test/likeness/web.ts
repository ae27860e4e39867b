import { readFile } from 'node:fs/promises';
import { extname, join, normalize, resolve } from 'node:path';
import { inParallel } from '../../layers/build/command.ts';
import { startBrowsers } from '../functions/engines/chromium/page-server.ts';
import { serveHttp } from '../helpers/fault-server.ts';
import { type Comparison, report } from './comparison.ts';
import { WEB_CASES, type WebCase } from './web/cases.ts';
import { startChromium, type Visit } from './web/chromium.ts';
import { compareOne } from './web/compare.ts';
import { choosePages, downloadPages } from './web/packages.ts';
import { drawPdf, References } from './web/reference.ts';

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

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.csv': 'text/csv',
};

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

  const server = await servePackages(folder);
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
    const url = `${server.origin}/${page.split('/').map(encodeURIComponent).join('/')}`;
    const isPdf = tool === 'html2pdf';
    const sides = {
      ours: async () => {
        const { path, settled } = isPdf
          ? await printers.convert(url, options, { time: TIMEOUT })
          : await cameras.convert(url, options, { format: format!, time: TIMEOUT });
        const bytes = await readFile(path);
        return { picture: isPdf ? await drawPdf(bytes) : bytes, settled };
      },
      theirs: (visit: Visit) => references.picture(isPdf ? 'pdf' : 'image', server.origin, page, look, visit),
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

async function servePackages(folder: string) {
  return serveHttp(async (request, response) => {
    const path = decodeURIComponent(request.url!.split('?')[0]!);
    const body = await readFile(join(folder, normalize(path))).catch(() => undefined);
    const type = TYPES[extname(path)] ?? 'application/octet-stream';
    response.writeHead(body ? 200 : 404, { 'content-type': type }).end(body);
  });
}
