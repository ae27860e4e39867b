import type { ServerResponse } from 'node:http';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { usePages } from '../use-pages.ts';

const file = (type: string, body: string | Buffer) => (_request: unknown, response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': type }).end(body);

const red = await sharp({ create: { width: 300, height: 200, channels: 3, background: '#f00' } })
  .png()
  .toBuffer();
const { pdf, picture } = await usePages({
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

describe('a source that is not HTML is shown without the viewer of the browser:', () => {
  it.for(['/red.png', '/drawing'])('%s', async (path) => {
    const { width, height, at } = await picture(path);

    expect(height).toBe(200);
    expect([at(0, 0), at(299, 199), at(width - 1, 100)].map((color) => color.slice(0, 3))).toEqual([
      [255, 0, 0],
      [255, 0, 0],
      [255, 255, 255],
    ]);
  });

  it('an image in a PDF', async () => {
    expect((await pdf('/red.png')).pages).toHaveLength(1);
  });

  it('data and text', async () => {
    expect((await pdf('/data')).text).toBe('{"name":"Zoë","list":[1,2]}');
    expect((await pdf('/text')).text).toBe('plain text');
  });

  it('XML', async () => {
    const { text: shown } = await pdf('/feed');

    expect(shown).toContain('Words');
    expect(shown).not.toContain('style information');
  });
});

describe('a source that cannot be shown is an error:', () => {
  it.for(['/film', '/sound', '/document'])('%s', async (path) => {
    await expect(picture(path)).rejects.toMatchObject({ code: 'UNSUPPORTED_SOURCE' });
  });
});
