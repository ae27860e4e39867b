import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { servePages, startBrowsers } from '../functions/engines/chromium/page-server.ts';
import { hasOriginal, originalSize, sizeOf, WKHTMLTOIMAGE_CASES, WKHTMLTOPDF_CASES } from './wkhtmltopdf.ts';

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
