import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { demoQuery } from '../../../../functions/router/accounts/demo.ts';
import * as tools from '../../../../functions/tools.ts';
import { drawPage, readPdf } from '../../../pdf.ts';
import { servePages, startBrowsers } from '../../engines/chromium/page-server.ts';

let pages: Awaited<ReturnType<typeof servePages>>;
let browsers: Awaited<ReturnType<typeof startBrowsers>>;
beforeAll(async () => {
  pages = await servePages({
    '/plain': '<!doctype html><p>text',
    '/unstyled':
      '<!doctype html><p>text<script>setInterval(() => { document.adoptedStyleSheets = [] }, 1)</script>',
    '/rewritten':
      '<!doctype html><p>text<script>onload = () => setTimeout(() => { document.open(); document.write("<p>new"); document.close() })</script>',
    '/covered':
      '<!doctype html><style>html::after{content:none!important}div{position:fixed;inset:0;background:#fff;z-index:2147483647}</style><div>text</div>',
  });
  browsers = await startBrowsers('html2pdf', { exceptions: [`127.0.0.1:${pages.port}`] });
});
afterAll(async () => {
  await browsers.close();
  await pages.close();
});

/** Share of the pixels of an image that are red. */
async function redShare(picture: Buffer): Promise<number> {
  const { data, info } = await sharp(picture).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  let red = 0;
  for (let at = 0; at < data.length; at += 3) if (data[at]! > data[at + 1]! + 60) red += 1;
  return red / (info.width * info.height);
}

it.each([
  ['/plain', {}],
  ['/unstyled', {}],
  ['/rewritten', {}],
  ['/covered', {}],
  ['/plain', { '--page-width': '3000', '--page-height': '3000' }],
  ['/plain', { '--page-width': '200', '--page-height': '100' }],
  ['/plain', { '--footer-html': '<div style="position:fixed;inset:0;background:#fff">mine</div>' }],
  ['/plain', { '--header-html': '<p>mine', '--margin-top': '0' }],
])('a PDF of %s with %j has a watermark that covers the page', async (path, options) => {
  const asked = Object.entries(options).map(([name, value]) => ({ name, value }));
  const query = Object.fromEntries(
    demoQuery(asked, tools.html2pdf, 'pdf').map(({ name, value }) => [name, value]),
  );

  const bytes = await readFile((await browsers.convert(pages.origin + path, query)).path);

  const { width, text } = (await readPdf(bytes)).pages[0]!;
  expect(text).toContain('DEMO');
  expect(await redShare(await drawPage(bytes, 1, 400 / width))).toBeGreaterThan(0.02);
});
