import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { afterAll } from 'vitest';
import type { Format } from '../../../../functions/shared/formats.ts';
import { readPdf } from '../../../helpers/pdf.ts';
import { allowPorts, sharedGuard, shareEngine } from '../../conversion.ts';
import { type ConvertOptions, type Route, servePages, startBrowsers } from './page-server.ts';

/** Options as in a query. */
export type Query = Readonly<Record<string, string | readonly string[]>>;

/**
 * Serves pages for a test file, and converts them in browsers that all test files of a vitest worker share. `others` are further
 * servers that these may reach.
 */
export async function usePages(
  routes: Record<string, Route>,
  others: ReadonlyArray<{ readonly port: number }> = [],
) {
  const site = await servePages(routes);
  afterAll(() => site.close());
  allowPorts(...[site, ...others].map(({ port }) => port));

  /** Converts a page, which is a path or a URL. */
  async function convert(
    tool: 'html2pdf' | 'html2image',
    page: string,
    query: Query = {},
    options: ConvertOptions = {},
  ) {
    const browsers = await shareEngine(tool, () => startBrowsers(tool, sharedGuard));
    return browsers.convert(page.startsWith('/') ? site.origin + page : page, query, options);
  }

  /** Converts a page to a PDF, and reads it. `text` is that of all pages, with `|` between them. */
  async function pdf(page: string, query?: Query, options?: ConvertOptions) {
    const { path, ...converted } = await convert('html2pdf', page, query, options);
    const bytes = await readFile(path);
    const facts = await readPdf(bytes);
    return { path, bytes, ...converted, ...facts, text: facts.pages.map(({ text }) => text).join('|') };
  }

  /** Converts a page to an image, and decodes it. `at` returns the channels of a pixel. */
  async function picture(page: string, query?: Query, format: Format = 'png', options?: ConvertOptions) {
    const { path } = await convert('html2image', page, query, { ...options, format });
    const { data, info } = await sharp(await readFile(path), { limitInputPixels: false })
      .raw()
      .toBuffer({ resolveWithObject: true });
    const { width, height, channels } = info;
    const at = (x: number, y: number) => {
      const start = (y * width + x) * channels;
      return [...data.subarray(start, start + channels)];
    };
    return { path, width, height, channels, at };
  }

  return { ...site, convert, pdf, picture };
}
