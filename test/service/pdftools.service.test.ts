import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { makePdf, numberedPages } from '../fixtures/pdf.ts';
import { isInstalled } from '../helpers/installed.ts';
import { drawPage } from '../helpers/pdf.ts';
import { difference, isBlank, pixel } from '../helpers/pixels.ts';
import { unzip } from '../helpers/zip.ts';
import { useService } from './server/use-service.ts';

const REPORT = makePdf(numberedPages(12));
const A4 = { '72': [596, 842], '150': [1241, 1754] } as const;

const used = useService(() => ({
  'report.pdf': REPORT,
  'locked.pdf': makePdf(numberedPages(1), { password: 'open sesame' }),
  'mixed.pdf': makePdf([
    { width: 300, height: 200, text: 'wide' },
    { width: 200, height: 300, text: 'tall' },
    { width: 300, height: 200, rotate: 90, text: 'turned' },
  ]),
  'half.pdf': REPORT.subarray(0, 400),
  'page.pdf': '<!doctype html><title>not found</title><p>nothing here',
  'empty.pdf': '',
}));

const ask = (infile: string, outfile: string, options: Record<string, string | number> = {}) => ({
  app: 'pdftools',
  infile: used().sources.urlOf(infile),
  outfile,
  ...options,
});

async function shapeOf(bytes: Buffer) {
  const { format, width, height, density } = await sharp(bytes).metadata();
  return { format, width, height, density };
}

describe('pdftools', () => {
  it.each(['png', 'jpg', 'webp', 'tiff'])(
    'draws the first page as %s, at 150 DPI, like the page itself',
    async (format) => {
      const { bytes, contentType } = await used().client.convert(ask('report.pdf', `page.${format}`));

      expect(await shapeOf(bytes)).toMatchObject({ width: A4['150'][0], height: A4['150'][1] });
      expect(contentType).toBe({ jpg: 'image/jpeg', tiff: 'image/tiff' }[format] ?? `image/${format}`);
      expect(await difference(bytes, await drawPage(REPORT, 1))).toBeLessThan(3);
      expect(
        await difference(
          bytes,
          await sharp({ create: { width: 9, height: 9, channels: 3, background: 'white' } })
            .png()
            .toBuffer(),
        ),
      ).toBeGreaterThan(0.3);
    },
  );

  it.skipIf(!isInstalled('pdftoppm'))('draws the same as pdftoppm (needs pdftoppm)', async () => {
    const { bytes } = await used().client.convert(
      ask('report.pdf', 'page.png', { '-f': 7, '-l': 7, '-r': 72 }),
    );

    expect(await difference(bytes, drawnByPdftoppm(REPORT, 7))).toBeLessThan(3);
  });

  it('draws at the resolution of -r and writes it into the image', async () => {
    const { bytes } = await used().client.convert(ask('report.pdf', 'page.png', { '-r': 72 }));

    expect(await shapeOf(bytes)).toEqual({
      format: 'png',
      width: A4['72'][0],
      height: A4['72'][1],
      density: 72,
    });
  });

  it.each([
    [{ '-width': 300, '-height': 300 }, 300, 300],
    [{ '-width': 300 }, 300, 425],
    [{ '-height': 300 }, 213, 300],
    [{ '-width': 300, '-height': 200, '-r': 600 }, 300, 200],
  ])('draws with %j', async (size, width, height) => {
    const { bytes } = await used().client.convert(ask('report.pdf', 'page.png', size));

    expect(await shapeOf(bytes)).toMatchObject({ width, height });
    expect(await pixel(bytes, 2, 2)).toEqual([255, 0, 0, 255]);
    expect(await pixel(bytes, width - 3, height - 3)).toEqual([0, 0, 255, 255]);
  });

  it('stacks the pages from -f to -l in one image, top to bottom', async () => {
    const { bytes } = await used().client.convert(
      ask('report.pdf', 'pages.png', { '-f': 2, '-l': 4, '-r': 36 }),
    );

    const { width, height } = await shapeOf(bytes);
    expect([width, height]).toEqual([298, 3 * 421]);
    for (const [index, page] of [2, 3, 4].entries()) {
      const part = await sharp(bytes)
        .extract({ left: 0, top: index * 421, width: 298, height: 421 })
        .png()
        .toBuffer();
      expect(await difference(part, await drawPage(REPORT, page, 0.5))).toBeLessThan(3);
    }
  });

  it('draws from -f to the end, and from the start to -l', async () => {
    const [tail, head] = await Promise.all([
      used().client.convert(ask('report.pdf', 'a.png', { '-f': 11, '-r': 36 })),
      used().client.convert(ask('report.pdf', 'a.png', { '-l': 3, '-r': 36 })),
    ]);

    expect(await shapeOf(tail.bytes)).toMatchObject({ height: 2 * 421 });
    expect(await shapeOf(head.bytes)).toMatchObject({ height: 3 * 421 });
  });

  it('reports the length of the document', async () => {
    const { headers } = await used().client.ask(ask('report.pdf', 'a.png', { '-r': 20 }));

    expect(headers.get('x-page-count')).toBe('12');
  });

  it('returns one file per page for %d, in order', async () => {
    const results = await used().client.convertAll(ask('report.pdf', 'page-%02d.jpg', { '-r': 36 }), 12);

    for (const [index, { address, bytes }] of results.entries()) {
      expect(new URL(address).pathname).toMatch(
        new RegExp(`/page-${String(index + 1).padStart(2, '0')}\\.jpg$`),
      );
      expect(await shapeOf(bytes)).toMatchObject({ format: 'jpeg', width: 298, height: 421 });
    }
    const third = await drawPage(REPORT, 3, 0.5);
    expect(await difference(results[2]!.bytes, third)).toBeLessThan(
      await difference(results[3]!.bytes, third),
    );
  });

  it('numbers files by page', async () => {
    const results = await used().client.convertAll(
      ask('report.pdf', '%d.png', { '-f': 9, '-l': 11, '-r': 20 }),
      3,
    );

    expect(results.map(({ address }) => new URL(address).pathname.split('/').at(-1))).toEqual([
      '9.png',
      '10.png',
      '11.png',
    ]);
  });

  it('returns an archive of all pages for .zip', async () => {
    const { bytes, contentType } = await used().client.convert(
      ask('report.pdf', 'all.png.zip', { '-r': 36 }),
    );

    expect(contentType).toBe('application/zip');
    const files = await unzip(bytes);
    expect(files.map(({ name }) => name)).toEqual(
      Array.from({ length: 12 }, (_, index) => `all-${index + 1}.png`),
    );
    for (const { content } of files) expect(await isBlank(content)).toBe(false);
    expect(await difference(files[11]!.content, await drawPage(REPORT, 12, 0.5))).toBeLessThan(3);
  });

  it('keeps the size and rotation of each page', async () => {
    const results = await used().client.convertAll(ask('mixed.pdf', '%d.png', { '-r': 72 }), 3);

    const shapes = await Promise.all(
      results.map(async ({ bytes }) => Object.values(await shapeOf(bytes)).slice(1, 3)),
    );
    expect(shapes).toEqual([
      [300, 200],
      [200, 300],
      [200, 300],
    ]);
  });

  it('draws in grayscale with -gray', async () => {
    const { bytes } = await used().client.convert(ask('report.pdf', 'a.png', { '-gray': '', '-r': 36 }));

    const [red, green, blue] = await pixel(bytes, 2, 2);
    expect([green, blue]).toEqual([red, red]);
  });

  it('opens an encrypted document only with its password', async () => {
    const { client } = used();
    const { bytes } = await client.convert(ask('locked.pdf', 'a.png', { '-upw': 'open sesame', '-r': 36 }));

    expect(await isBlank(bytes)).toBe(false);
    expect(await client.refuse(ask('locked.pdf', 'a.png'))).toMatchObject({
      status: 422,
      code: 'PASSWORD_REQUIRED',
    });
    expect(await client.refuse(ask('locked.pdf', 'a.png', { '-upw': 'wrong' }))).toMatchObject({
      status: 422,
      code: 'WRONG_PASSWORD',
    });
  });

  it.each([
    ['half.pdf', {}, 422, /^(CORRUPT_SOURCE|CONVERSION_FAILED)$/],
    ['empty.pdf', {}, 422, /^CORRUPT_SOURCE$/],
    ['page.pdf', {}, 415, /^UNSUPPORTED_SOURCE$/],
    ['report.pdf', { '-f': 13 }, 400, /^PAGE_RANGE$/],
    ['report.pdf', { '-f': 5, '-l': 4 }, 400, /^PAGE_RANGE$/],
    ['report.pdf', { '-r': 9 }, 400, /^BAD_PARAMETER$/],
    ['none.pdf', {}, 424, /^SOURCE_STATUS$/],
  ])('rejects %s with %j', async (infile, options, status, code) => {
    const refusal = await used().client.refuse(ask(infile, 'a.png', options));

    expect(refusal.status).toBe(status);
    expect(refusal.code).toMatch(code);
  });

  it('treats -l past the end as the last page', async () => {
    const { bytes } = await used().client.convert(
      ask('report.pdf', 'a.png', { '-f': 12, '-l': 99, '-r': 36 }),
    );

    expect(await shapeOf(bytes)).toMatchObject({ height: 421 });
  });
});

function drawnByPdftoppm(pdf: Buffer, page: number): Buffer {
  const directory = mkdtempSync(join(tmpdir(), 'pdftoppm-'));
  try {
    writeFileSync(join(directory, 'a.pdf'), pdf);
    return execFileSync('pdftoppm', [
      '-png',
      '-r',
      '72',
      '-f',
      `${page}`,
      '-l',
      `${page}`,
      join(directory, 'a.pdf'),
    ]);
  } finally {
    rmSync(directory, { recursive: true });
  }
}
