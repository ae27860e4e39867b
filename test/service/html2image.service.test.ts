import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { quarters } from '../fixtures/image.ts';
import { BANDS } from '../fixtures/page.ts';
import { difference, isBlank, pixel } from '../helpers/pixels.ts';
import { useService } from './server/use-service.ts';

const FONT = join(import.meta.dirname, '../../dist/layers/fonts/faces/DejaVuSansMono.ttf');

const used = useService(async () => ({
  'bands.html': BANDS,
  'font.ttf': await readFile(FONT),
  'late.png': await quarters(100, 100).png().toBuffer(),
  'echo.html': (request, response) => {
    const { cookie = '', 'x-test': test = '', authorization = '' } = request.headers;
    const wanted = cookie === 'a=1' && test === 'yes' && authorization.startsWith('Basic ');
    const color = wanted ? '#0a0' : '#f00';
    response.setHeader('content-type', 'text/html');
    response.end(`<body style="margin:0;background:${color}">`);
  },
  'broken.html': (_request, response) => {
    response.writeHead(500, { 'content-type': 'text/html' }).end('<body style="background:#f00">');
  },
  'late.html':
    '<body style="margin:0;background:#f00"><script>setTimeout(() => { document.body.style.background = "#0a0"; document.body.id = "done" }, 1500)</script>',
  'report.pdf': Buffer.from('%PDF-1.7\n'),
}));

const ask = (infile: string, options: Record<string, string | number> = {}, outfile = 'a.png') => ({
  app: 'html2image',
  infile: used().sources.urlOf(infile),
  outfile,
  ...options,
});

const part = (bytes: Buffer, left: number, top: number, width: number, height: number) =>
  sharp(bytes).extract({ left, top, width, height }).png().toBuffer();

describe('html2image', () => {
  it.each(['png', 'jpg', 'webp'])('shows the whole page as %s, 1024 wide', async (format) => {
    const { bytes, contentType } = await used().client.convert(ask('bands.html', {}, `a.${format}`));

    const { width, height } = await sharp(bytes).metadata();
    expect(width).toBe(1024);
    expect(height).toBeGreaterThanOrEqual(1600);
    expect(height).toBeLessThan(1630);
    expect(contentType).toBe(format === 'jpg' ? 'image/jpeg' : `image/${format}`);
    const [red, green, blue] = await pixel(bytes, 500, 50);
    expect(red).toBeGreaterThan(250);
    expect(green! + blue!).toBeLessThan(10);
  });

  it('waits for web fonts', async () => {
    const { bytes } = await used().client.convert(ask('bands.html'));

    // Ten narrow letters are 301 pixels wide in the font of the page, and 139 in its substitute.
    expect(await pixel(bytes, 290, 150)).toEqual([0, 0, 255, 255]);
    expect(await pixel(bytes, 310, 150)).toEqual([255, 255, 255, 255]);
  });

  it('has colored emoji', async () => {
    const { bytes } = await used().client.convert(ask('bands.html'));

    const emoji = await part(bytes, 0, 200, 120, 100);
    const { data } = await sharp(emoji).removeAlpha().raw().toBuffer({ resolveWithObject: true });
    const yellow = data.filter(
      (_, at) => at % 3 === 0 && data[at]! > 200 && data[at + 1]! > 140 && data[at + 2]! < 120,
    );
    expect(yellow.length).toBeGreaterThan(500);
  });

  it('has a glyph for every Chinese character', async () => {
    const { bytes } = await used().client.convert(ask('bands.html'));

    const [one, other] = [await part(bytes, 0, 300, 80, 100), await part(bytes, 80, 300, 80, 100)];
    expect(await isBlank(one)).toBe(false);
    expect(await isBlank(other)).toBe(false);
    expect(await difference(one, other)).toBeGreaterThan(5);
  });

  it('loads lazy images below the fold', async () => {
    const { bytes } = await used().client.convert(ask('bands.html'));

    const { height } = await sharp(bytes).metadata();
    const picture = await part(bytes, 0, 1500, 100, 100);
    expect(height).toBeGreaterThanOrEqual(1600);
    expect(await difference(picture, await quarters(100, 100).png().toBuffer())).toBeLessThan(3);
  });

  it.each([
    [{ '--width': 500 }, 500, undefined],
    [{ '--width': 800, '--height': 600 }, 800, 600],
    [{ '--height': 50 }, 1024, 50],
    [{ '--width': 400, '--height': 300, '--zoom': 2 }, 800, 600],
  ])('applies %j', async (options, width, height) => {
    const { bytes } = await used().client.convert(ask('bands.html', options));

    const found = await sharp(bytes).metadata();
    expect(found.width).toBe(width);
    if (height === undefined) expect(found.height).toBeGreaterThan(1500);
    else expect(found.height).toBe(height);
  });

  it('sends cookies, headers and a password to the page', async () => {
    const options = {
      '--cookie': 'a:1',
      '--custom-header': 'X-Test:yes',
      '--username': 'u',
      '--password': 'p',
    };

    const [with_, without] = [
      await used().client.convert(ask('echo.html', { ...options, '--height': 20 })),
      await used().client.convert(ask('echo.html', { '--height': 20 })),
    ];

    expect(await pixel(with_.bytes, 5, 5)).toEqual([0, 170, 0, 255]);
    expect(await pixel(without.bytes, 5, 5)).toEqual([255, 0, 0, 255]);
  });

  it.each([{ '--javascript-delay': 2500 }, { '--wait-for-selector': '#done' }])(
    'waits with %j',
    async (wait) => {
      const heights = [20, 21, 22, 23, 24, 25];
      const images = await Promise.all(
        heights.map((height) => used().client.convert(ask('late.html', { ...wait, '--height': height }))),
      );

      for (const { bytes } of images) expect(await pixel(bytes, 5, 5)).toEqual([0, 170, 0, 255]);
    },
  );

  it('runs no script if disabled', async () => {
    const { bytes } = await used().client.convert(
      ask('late.html', { '--disable-javascript': '', '--height': 20 }),
    );

    expect(await pixel(bytes, 5, 5)).toEqual([255, 0, 0, 255]);
  });

  it.each([
    ['none.html', {}, 424, 'SOURCE_STATUS'],
    ['broken.html', {}, 424, 'SOURCE_STATUS'],
    ['bands.html', { '--allow': '/' }, 400, 'BAD_PARAMETER'],
    ['bands.html', { '--widht': 100 }, 400, 'UNKNOWN_PARAMETER'],
    ['bands.html', { '--width': 0 }, 400, 'BAD_PARAMETER'],
  ])('rejects %s with %j', async (infile, options, status, code) => {
    expect(await used().client.refuse(ask(infile, options))).toMatchObject({ status, code });
  });

  it('shows an error page on request', async () => {
    const { bytes } = await used().client.convert(
      ask('broken.html', { '--load-error-handling': 'ignore', '--height': 9 }),
    );

    expect(await pixel(bytes, 5, 5)).toEqual([255, 0, 0, 255]);
  });

  it.each(['http://127.0.0.1:1/', 'http://localhost/', 'http://169.254.169.254/latest/', 'http://[::1]/'])(
    'does not open %s',
    async (infile) => {
      expect(await used().client.refuse({ app: 'html2image', infile, outfile: 'a.png' })).toMatchObject({
        status: 403,
        code: 'BLOCKED_ADDRESS',
      });
    },
  );
});
