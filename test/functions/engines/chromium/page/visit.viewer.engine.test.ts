import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPdf } from '../../../../helpers/pdf.ts';
import { pixel } from '../../../../helpers/pixels.ts';
import { servePages, startBrowsers } from '../page-server.ts';

let pages: Awaited<ReturnType<typeof servePages>>;
let printers: Awaited<ReturnType<typeof startBrowsers>>;
let cameras: Awaited<ReturnType<typeof startBrowsers>>;

const file = (type: string, body: string | Buffer) => (_request: unknown, response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': type }).end(body);

beforeAll(async () => {
  const red = await sharp({ create: { width: 300, height: 200, channels: 3, background: '#f00' } })
    .png()
    .toBuffer();
  pages = await servePages({
    '/red.png': file('image/png', red),
    '/data': file('application/json', '{"name":"Zoë","list":[1,2]}'),
    '/text': file('text/plain', 'plain text'),
    '/drawing': file(
      'image/svg+xml',
      '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="200"><rect width="300" height="200" fill="red"/></svg>',
    ),
    '/feed': file('application/xml', '<?xml version="1.0"?><feed><entry>Words</entry></feed>'),
    '/film': file('video/mp4', Buffer.alloc(100)),
    '/sound': file('audio/mpeg', Buffer.alloc(100)),
    '/document': file('application/pdf', '%PDF-1.4'),
  });
  const rules = { exceptions: [`127.0.0.1:${pages.port}`] };
  [printers, cameras] = [await startBrowsers('html2pdf', rules), await startBrowsers('html2image', rules)];
});

afterAll(async () => {
  await Promise.all([printers.close(), cameras.close()]);
  await pages.close();
});

async function text(path: string) {
  const { path: pdf } = await printers.convert(pages.origin + path);
  return (await readPdf(await readFile(pdf))).pages.map((page) => page.text).join();
}

describe('a source that is not HTML is shown without the viewer of the browser:', () => {
  it.for(['/red.png', '/drawing'])('%s', async (path) => {
    const { path: image } = await cameras.convert(pages.origin + path, {}, { format: 'png' });

    const { width = 0, height = 0 } = await sharp(image).metadata();
    expect(height).toBe(200);
    expect(await pixel(image, 0, 0)).toEqual([255, 0, 0, 255]);
    expect(await pixel(image, 299, 199)).toEqual([255, 0, 0, 255]);
    expect(await pixel(image, width - 1, 100)).toEqual([255, 255, 255, 255]);
  });

  it('an image in a PDF', async () => {
    const { path } = await printers.convert(`${pages.origin}/red.png`);
    const { pages: read } = await readPdf(await readFile(path));

    expect(read).toHaveLength(1);
  });

  it('data and text', async () => {
    expect(await text('/data')).toBe('{"name":"Zoë","list":[1,2]}');
    expect(await text('/text')).toBe('plain text');
  });

  it('XML', async () => {
    const shown = await text('/feed');

    expect(shown).toContain('Words');
    expect(shown).not.toContain('style information');
  });
});

describe('a source that cannot be shown is an error:', () => {
  it.for(['/film', '/sound', '/document'])('%s', async (path) => {
    await expect(cameras.convert(pages.origin + path)).rejects.toMatchObject({ code: 'UNSUPPORTED_SOURCE' });
  });
});
