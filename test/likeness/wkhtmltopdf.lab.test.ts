import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { servePages, startBrowsers } from '../functions/engines/chromium/page-server.ts';
import { readPdf } from '../helpers/pdf.ts';

/**
 * Option sets of which the unpatched build of Debian defines the size of the result. It ignores margins and
 * headers, and its C5E is a millimeter narrower than that of the patched build.
 */
const WKHTMLTOPDF_CASES: readonly Readonly<Record<string, string>>[] = [
  {},
  ...['A3', 'A5', 'A6', 'B5', 'Letter', 'Legal', 'Tabloid', 'Executive', 'Folio', 'Comm10E', 'DLE'].map(
    (size) => ({ '--page-size': size }),
  ),
  { '--orientation': 'Landscape' },
  { '--page-size': 'A5', '--orientation': 'Landscape' },
  { '--page-width': '100mm', '--page-height': '150mm' },
  { '--page-width': '8in', '--page-height': '5in' },
];

const WKHTMLTOIMAGE_CASES: readonly Readonly<Record<string, string>>[] = [
  { '--width': '1400', '--height': '500' },
  { '--width': '1400', '--height': '1200' },
  { '--width': '1400', '--crop-w': '300', '--crop-h': '200', '--height': '700' },
  {
    '--width': '1400',
    '--crop-x': '100',
    '--crop-y': '50',
    '--crop-w': '400',
    '--crop-h': '300',
    '--height': '700',
  },
];

const run = promisify(execFile);

/** Returns the size of the result, in points or pixels, that the original program makes of a page. */
async function originalSize(
  url: string,
  kind: 'pdf' | 'image',
  options: Readonly<Record<string, string>>,
): Promise<readonly [width: number, height: number]> {
  const directory = await mkdtemp(join(tmpdir(), 'wkhtmltox-'));
  const path = join(directory, kind === 'pdf' ? 'page.pdf' : 'page.png');
  const given = Object.entries(options).flat();
  const environment = {
    PATH: '/usr/bin:/bin',
    HOME: directory,
    XDG_RUNTIME_DIR: directory,
    QT_QPA_PLATFORM: 'offscreen',
  };
  try {
    await run(kind === 'pdf' ? 'wkhtmltopdf' : 'wkhtmltoimage', ['--quiet', ...given, url, path], {
      env: environment,
      timeout: 60_000,
    });
    return await sizeOf(await readFile(path), kind);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function sizeOf(file: Buffer, kind: 'pdf' | 'image'): Promise<readonly [number, number]> {
  if (kind === 'pdf') {
    const [page] = (await readPdf(file)).pages;
    return [page!.width, page!.height];
  }
  const { width, height } = await sharp(file).metadata();
  return [width, height];
}

/** Whether the original programs are installed. */
function hasOriginal(): Promise<boolean> {
  return run('wkhtmltopdf', ['--version']).then(
    () => true,
    () => false,
  );
}

let pages: Awaited<ReturnType<typeof servePages>>;
let printers: Awaited<ReturnType<typeof startBrowsers>>;
let cameras: Awaited<ReturnType<typeof startBrowsers>>;

beforeAll(async () => {
  pages = await servePages({ '/': '<!doctype html><title>Page</title><h1>Head</h1><p>Text' });
  const rules = { exceptions: [`127.0.0.1:${pages.port}`] };
  [printers, cameras] = [await startBrowsers('html2pdf', rules), await startBrowsers('html2image', rules)];
});

afterAll(async () => {
  await Promise.all([printers.close(), cameras.close()]);
  await pages.close();
});

describe.skipIf(!(await hasOriginal()))(
  'the result is as large as that of the original program (needs wkhtmltopdf)',
  () => {
    it.each(WKHTMLTOPDF_CASES.map((options) => [options]))('a PDF with %j', async (options) => {
      const [width, height] = await originalSize(pages.origin, 'pdf', options);
      const ours = await sizeOf(await readFile((await printers.convert(pages.origin, options)).path), 'pdf');

      // It rounds to whole points.
      expect(Math.abs(ours[0] - width)).toBeLessThan(1.5);
      expect(Math.abs(ours[1] - height)).toBeLessThan(1.5);
    });

    it.each(WKHTMLTOIMAGE_CASES.map((options) => [options]))('an image with %j', async (options) => {
      const size = await originalSize(pages.origin, 'image', options);
      const { path } = await cameras.convert(pages.origin, options, { format: 'png' });

      expect(await sizeOf(await readFile(path), 'image')).toEqual(size);
    });
  },
);
