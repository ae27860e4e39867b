import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { quarters } from '../fixtures/image.ts';
import { BANDS, chapters } from '../fixtures/page.ts';
import { drawPage, readPdf } from '../helpers/pdf.ts';
import { isBlank, pixel } from '../helpers/pixels.ts';
import { useService } from './server/use-service.ts';

const FONT = join(import.meta.dirname, '../../dist/layers/fonts/faces/DejaVuSansMono.ttf');
const MILLIMETER = 72 / 25.4;

const used = useService(async () => ({
  'bands.html': BANDS,
  'font.ttf': await readFile(FONT),
  'late.png': await quarters(100, 100).png().toBuffer(),
  'chapters.html': chapters(12),
  'tall.html': '<body style="margin:0"><div style="height:5000px;background:#0a0"></div>',
}));

const ask = (infile: string, options: Record<string, string | number> = {}) => ({
  app: 'html2pdf',
  infile: used().sources.urlOf(infile),
  outfile: 'a.pdf',
  ...options,
});

async function convert(infile: string, options: Record<string, string | number> = {}) {
  const { bytes } = await used().client.convert(ask(infile, options));
  return { bytes, ...(await readPdf(bytes)) };
}

/** Every page has these sides in points. Chromium rounds them to its pixels of three quarters of a point. */
function expectPaper(
  pages: ReadonlyArray<{ width: number; height: number }>,
  width: number,
  height: number,
): void {
  for (const page of pages) {
    expect(Math.abs(page.width - width)).toBeLessThan(1);
    expect(Math.abs(page.height - height)).toBeLessThan(1.2);
  }
}

describe('html2pdf', () => {
  it('is A4 with the text, the title and the links of the page', async () => {
    const { pages, title } = await convert('bands.html');

    const text = pages.map((page) => page.text).join(' ');
    expectPaper(pages, 595.28, 841.89);
    expect(title).toBe('Bands');
    for (const words of ['漢字', 'Grüße aus Köln', 'script ran']) expect(text).toContain(words);
    expect(pages.flatMap(({ links }) => links)).toEqual(['https://example.org/further']);
  });

  it('has margins of 10 mm, backgrounds, and looks as on a screen', async () => {
    const { bytes } = await convert('bands.html');

    const page = await drawPage(bytes, 1, 2);
    const edge = Math.round(10 * MILLIMETER * 2);
    expect(await pixel(page, edge - 4, edge + 20)).toEqual([255, 255, 255, 255]);
    expect(await pixel(page, edge + 20, edge - 4)).toEqual([255, 255, 255, 255]);
    expect(await pixel(page, edge + 20, edge + 20)).toEqual([255, 0, 0, 255]);
  });

  it('has colored emoji', async () => {
    const { bytes } = await convert('bands.html');

    const { data } = await sharp(await drawPage(bytes, 1, 2))
      .removeAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    const yellow = data.filter(
      (_, at) => at % 3 === 0 && data[at]! > 200 && data[at + 1]! > 140 && data[at + 2]! < 120,
    );
    expect(yellow.length).toBeGreaterThan(300);
  });

  it('waits for lazy images', async () => {
    await convert('bands.html');

    expect(used().sources.asked).toContain('late.png');
  });

  it('prints twelve chapters on twelve pages, and reports it', async () => {
    const { headers } = await used().client.ask(ask('chapters.html'));
    const { pages, bytes } = await convert('chapters.html');

    expect(headers.get('x-page-count')).toBe('12');
    expect(pages.map(({ text }) => text)).toEqual(
      Array.from({ length: 12 }, (_, index) => `Chapter ${index + 1}`),
    );
    expect(await isBlank(await drawPage(bytes, 12))).toBe(false);
  });

  it.each([
    [{ '--page-size': 'Letter' }, 612, 792],
    [{ '-s': 'a5' }, 419.53, 595.28],
    [{ '-O': 'Landscape' }, 841.89, 595.28],
    [{ '--page-width': '100mm', '--page-height': '50mm' }, 283.46, 141.73],
  ])('applies %j', async (options, width, height) => {
    const { pages } = await convert('chapters.html', options);

    expect(pages.length).toBeGreaterThanOrEqual(12);
    expectPaper(pages, width, height);
  });

  it('is one page as tall as the content for --page-height=auto', async () => {
    const { pages } = await convert('tall.html', { '--page-height': 'auto' });

    expect(pages).toHaveLength(1);
    expect(pages[0]!.height).toBeGreaterThan(2000);
  });

  it('applies margins of 0', async () => {
    const { bytes } = await convert('bands.html', { '-T': 0, '-B': 0, '-L': 0, '-R': 0 });

    expect(await pixel(await drawPage(bytes, 1), 2, 2)).toEqual([255, 0, 0, 255]);
  });

  it('omits backgrounds, or uses print styles, on request', async () => {
    const [plain, print] = [
      await convert('bands.html', { '--no-background': '', '-T': 0, '-L': 0 }),
      await convert('bands.html', { '--print-media-type': '', '-T': 0, '-L': 0 }),
    ];

    expect(await pixel(await drawPage(plain.bytes, 1), 5, 5)).toEqual([255, 255, 255, 255]);
    expect(await pixel(await drawPage(print.bytes, 1), 5, 5)).toEqual([0, 0, 0, 255]);
  });

  it('keeps the requested pages', async () => {
    const [range, list] = [
      await convert('chapters.html', { '-f': 3, '-l': 4 }),
      await convert('chapters.html', { '--page-ranges': '1,!1' }),
    ];

    expect(range.pages.map(({ text }) => text)).toEqual(['Chapter 3', 'Chapter 4']);
    expect(list.pages.map(({ text }) => text)).toEqual(['Chapter 1', 'Chapter 12']);
  });

  it('writes headers and footers', async () => {
    const { pages } = await convert('chapters.html', {
      '--header-left': 'top [title]',
      '--footer-center': '[page] of [topage]',
      '-T': 25,
      '-B': 25,
    });

    expect(pages).toHaveLength(12);
    expect(pages[4]!.text).toContain('top Chapters');
    expect(pages[4]!.text).toContain('5 of 12');
  });

  it('runs no script if disabled', async () => {
    const { pages } = await convert('bands.html', { '--disable-javascript': '' });

    expect(pages.map(({ text }) => text).join(' ')).toContain('not run');
  });

  it('accepts options without effect, and lists them', async () => {
    const { headers } = await used().client.ask(ask('chapters.html', { '--dpi': 300, '--copies': '1' }));

    const ignored = headers.get('x-ignored-options')?.split(', ');
    expect(ignored?.sort()).toEqual(['--copies', '--dpi']);
  });

  it.each([
    ['none.html', {}, 'SOURCE_STATUS'],
    ['chapters.html', { '-f': 13 }, 'PAGE_RANGE'],
    ['chapters.html', { '--page-size': 'A99' }, 'BAD_PARAMETER'],
    ['chapters.html', { '--enable-local-file-access': '' }, 'BAD_PARAMETER'],
  ])('rejects %s with %j', async (infile, options, code) => {
    expect(await used().client.refuse(ask(infile, options))).toMatchObject({ code });
  });
});
