import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { extname, join, normalize, resolve } from 'node:path';
import sharp from 'sharp';
import { inParallel } from '../../layers/parallel.ts';
import { startBrowsers } from '../functions/shared/chromium/page-server.ts';
import { serveHttp } from '../functions/shared/source/fault-server.ts';
import { drawPage, readPdf } from '../pdf.ts';
import { BOUND, type Comparison, differingPixels, report } from './comparison.ts';
import { startChromium } from './web/chromium.ts';
import { downloadPages, spread } from './web/packages.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Pixels of the other browser's window. */
const WINDOW_HEIGHT = 768;
/** Number of pages of a PDF that are drawn. */
const PAGES = 5;
/** Number of concurrent pages. Most of the time is spent waiting for the other browser. */
const WIDTH = 2;

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

/** Compares the images and PDFs of web pages from public packages with Chromium's own after four seconds. */
export async function run(given: string, { limit, only }: { limit: number; only: string }): Promise<number> {
  const folder = resolve(given);
  const all = await downloadPages(folder);
  const chosen = spread(
    all.filter((page) => page.includes(only)),
    limit,
  );
  const server = await serveHttp(async (request, response) => {
    const path = decodeURIComponent(request.url!.split('?')[0]!);
    const body = await readFile(join(folder, normalize(path))).catch(() => undefined);
    const type = TYPES[extname(path)] ?? 'application/octet-stream';
    response.writeHead(body ? 200 : 404, { 'content-type': type }).end(body);
  });
  const rules = { exceptions: [`127.0.0.1:${server.port}`] };
  const [cameras, printers, chromium] = await Promise.all([
    startBrowsers('html2image', rules),
    startBrowsers('html2pdf', rules),
    startChromium(join(ROOT, 'dist/layers')),
  ]);

  const comparisons = await inParallel(chosen, WIDTH, async (page) => {
    const url = `${server.origin}/${page.split('/').map(encodeURIComponent).join('/')}`;
    const rows = [
      await compareOne(`${page} (image)`, async () => {
        const { path, settled } = await cameras.convert(url, {}, { format: 'png', time: 60_000 });
        const theirs = await chromium.image(url);
        return { settled, difference: await differ(page, await readFile(path), Buffer.from(theirs)) };
      }),
      await compareOne(`${page} (PDF)`, async () => {
        const { path, settled } = await printers.convert(url, {}, { time: 60_000 });
        const theirs = await chromium.pdf(url);
        const [one, other] = await Promise.all([draw(await readFile(path)), draw(Buffer.from(theirs))]);
        return { settled, difference: await differ(`${page}.pdf`, one, other) };
      }),
    ];
    console.error(
      rows.map(({ name, difference }) => `${(100 * difference).toFixed(2)} % ${name}`).join('; '),
    );
    return rows;
  });
  await Promise.all([cameras.close(), printers.close(), chromium.close()]);
  process.stdout.write(`${report(comparisons.flat())}\n`);
  return 0;
}

/** Cuts off what a window shows below the end of a shorter page, if it has a single color. */
async function withoutRest(theirs: Buffer, ours: Buffer): Promise<Buffer> {
  const [{ height }, { width, height: whole }] = [
    await sharp(ours).metadata(),
    await sharp(theirs).metadata(),
  ];
  if (whole !== WINDOW_HEIGHT || height >= whole) return theirs;
  const cut = (top: number, bottom: number) =>
    sharp(theirs)
      .extract({ left: 0, top, width, height: bottom - top })
      .png()
      .toBuffer();
  const { channels } = await sharp(await cut(height, whole)).stats();
  return channels.every(({ min, max }) => min === max) ? cut(0, height) : theirs;
}

/** Stores both images of an outlier in `dist/likeness/outliers` for inspection. */
async function differ(name: string, ours: Buffer, theirs: Buffer): Promise<number> {
  const difference = await differingPixels(ours, await withoutRest(theirs, ours));
  if (difference > BOUND) {
    const folder = join(ROOT, 'dist/likeness/outliers');
    await mkdir(folder, { recursive: true });
    const path = join(folder, name.replaceAll('/', '_'));
    await Promise.all([writeFile(`${path}.ours.png`, ours), writeFile(`${path}.theirs.png`, theirs)]);
  }
  return difference;
}

async function compareOne(
  name: string,
  run: () => Promise<{ difference: number; settled: boolean | undefined }>,
): Promise<Comparison> {
  try {
    const { difference, settled } = await run();
    return { name, difference, ...(settled === false && { note: 'never looks still' }) };
  } catch (thrown) {
    return { name, difference: Number.NaN, note: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

/** Draws the first pages of a PDF at 72 DPI, one below the other. */
async function draw(pdf: Buffer): Promise<Buffer> {
  const { pages } = await readPdf(pdf);
  const drawn: Buffer[] = [];
  for (let page = 1; page <= Math.min(PAGES, pages.length); page++) drawn.push(await drawPage(pdf, page));
  if (drawn.length === 1) return drawn[0]!;
  return sharp(drawn, { join: { across: 1 } })
    .png()
    .toBuffer();
}
