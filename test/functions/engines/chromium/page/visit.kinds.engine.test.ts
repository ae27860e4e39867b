import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makePdf } from '../../../../fixtures/pdf.ts';
import { servePages, startBrowsers } from '../page-server.ts';

const fixture = (name: string) => readFile(join(import.meta.dirname, '../../../../fixtures/office', name));

const FILES: Readonly<Record<string, () => Promise<Buffer> | Buffer>> = {
  'letter.pdf': () => makePdf([{ text: 'Letter' }]),
  'text.docx': () => fixture('text.docx'),
  'sheet.xls': () => fixture('sheet.xls'),
};

let pages: Awaited<ReturnType<typeof servePages>>;
let browsers: Awaited<ReturnType<typeof startBrowsers>>;

beforeAll(async () => {
  const routes = await Promise.all(
    Object.entries(FILES).map(async ([name, read]) => {
      const bytes = await read();
      return ['text/plain', 'text/html; charset=utf-8', 'application/pdf'].map(
        (type, index) =>
          [
            `/${index}/${name}`,
            (_request: unknown, response: import('node:http').ServerResponse) =>
              void response.writeHead(200, { 'content-type': type }).end(bytes),
          ] as const,
      );
    }),
  );
  pages = await servePages(Object.fromEntries(routes.flat()));
  browsers = await startBrowsers('html2pdf', { exceptions: [`127.0.0.1:${pages.port}`] });
});

afterAll(async () => {
  await browsers.close();
  await pages.close();
});

it.each([
  ['/0/letter.pdf', 'pdftools'],
  ['/1/letter.pdf', 'pdftools'],
  ['/2/letter.pdf', 'pdftools'],
  ['/0/text.docx', 'doc2any'],
  ['/1/sheet.xls', 'doc2any'],
])('is no page but a file for another tool, whatever the server calls it: %s', async (path, tool) => {
  const converting = browsers.convert(pages.origin + path);

  await expect(converting).rejects.toMatchObject({
    code: 'UNSUPPORTED_SOURCE',
    message: expect.stringContaining(`Use app=${tool} for `),
  });
});
