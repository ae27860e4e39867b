// Calls each tool as a caller does. The tests of the tools themselves try their options, sources and formats.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { QUARTERS, quarters } from '../fixtures/image.ts';
import { BANDS, chapters } from '../fixtures/page.ts';
import { makePdf, numberedPages } from '../fixtures/pdf.ts';
import { drawPage, readPdf } from '../helpers/pdf.ts';
import { difference, isBlank, pixel } from '../helpers/pixels.ts';
import { unzip } from '../helpers/zip.ts';
import { useService } from './use-service.ts';

const FONT = join(import.meta.dirname, '../../dist/layers/fonts/faces/DejaVuSansMono.ttf');
const OFFICE = ['text.doc', 'text.docx', 'text.rtf', 'sheet.xls', 'sheet.xlsx', 'slides.ppt', 'slides.pptx'];
const REPORT = makePdf(numberedPages(12));
const CHAPTERS = Array.from({ length: 12 }, (_, index) => `Chapter ${index + 1}`);

const office = (name: string) => readFile(join(import.meta.dirname, '../fixtures/office', name));
const used = useService(async () => ({
  'report.pdf': REPORT,
  'locked.pdf': makePdf(numberedPages(1), { password: 'open sesame' }),
  'half.pdf': REPORT.subarray(0, 400),
  'empty.pdf': '',
  'not.pdf': '<!doctype html><title>not found</title><p>nothing here',
  'signed.pdf': Buffer.concat([makePdf(numberedPages(1)), Buffer.from('% /ByteRange')]),
  'bands.html': BANDS,
  'chapters.html': chapters(12),
  'font.ttf': await readFile(FONT),
  'late.png': await quarters(100, 100).png().toBuffer(),
  'echo.html': (request, response) => {
    const { cookie = '', 'x-test': test = '', authorization = '' } = request.headers;
    const wanted = cookie === 'a=1' && test === 'yes' && authorization.startsWith('Basic ');
    response.setHeader('content-type', 'text/html');
    response.end(`<body style="margin:0;background:${wanted ? '#0a0' : '#f00'}">`);
  },
  'broken.html': (_request, response) => {
    response.writeHead(500, { 'content-type': 'text/html' }).end('<body style="background:#f00">');
  },
  ...Object.fromEntries(
    await Promise.all([...OFFICE, 'locked.docx'].map(async (name) => [name, await office(name)] as const)),
  ),
  // As a download without a name.
  report: await office('text.docx'),
  'noise.docx': Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7919) % 256)),
  'quarters.png': await quarters(400, 300).png().toBuffer(),
  'half.png': (await quarters(400, 300).png({ compressionLevel: 0 }).toBuffer()).subarray(0, 100_000),
  'text.png': 'not an image',
}));

type Options = Readonly<Record<string, string | number>>;

const query = (app: string, infile: string, outfile: string, options: Options = {}) => ({
  app,
  infile: used().sources.urlOf(infile),
  outfile,
  ...options,
});
const convert = (...asked: Parameters<typeof query>) => used().client.convert(query(...asked));

/** Whether enough pixels have the yellow of an emoji. */
async function hasEmoji(picture: Buffer): Promise<boolean> {
  const { data } = await sharp(picture).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const isYellow = (at: number) =>
    at % 3 === 0 && data[at]! > 200 && data[at + 1]! > 140 && data[at + 2]! < 120;
  return data.filter((_, at) => isYellow(at)).length > 300;
}

it.each([
  ['pdftools', 'report.pdf', { '-f': 13 }, 400, /^PAGE_RANGE$/],
  ['pdftools', 'report.pdf', { '-r': 9 }, 400, /^BAD_PARAMETER$/],
  ['pdftools', 'half.pdf', {}, 422, /^(CORRUPT_SOURCE|CONVERSION_FAILED)$/],
  ['pdftools', 'empty.pdf', {}, 422, /^CORRUPT_SOURCE$/],
  ['pdftools', 'not.pdf', {}, 415, /^UNSUPPORTED_SOURCE$/],
  ['pdftools', 'none.pdf', {}, 424, /^SOURCE_STATUS$/],
  ['html2image', 'broken.html', {}, 424, /^SOURCE_STATUS$/],
  ['html2image', 'bands.html', { '--allow': '/' }, 400, /^BAD_PARAMETER$/],
  ['html2image', 'bands.html', { '--widht': 100 }, 400, /^UNKNOWN_PARAMETER$/],
  ['html2pdf', 'none.html', {}, 424, /^SOURCE_STATUS$/],
  ['html2pdf', 'chapters.html', { '-f': 13 }, 400, /^PAGE_RANGE$/],
  ['html2pdf', 'chapters.html', { '--enable-local-file-access': '' }, 400, /^BAD_PARAMETER$/],
  ['imageproc', 'half.png', {}, 422, /^(CORRUPT_SOURCE|CONVERSION_FAILED)$/],
  ['imageproc', 'text.png', {}, 415, /^UNSUPPORTED_SOURCE$/],
  ['doc2any', 'text.docx', { '-f': 4 }, 400, /^PAGE_RANGE$/],
  ['doc2any', 'noise.docx', {}, 415, /^UNSUPPORTED_SOURCE$/],
  ['doc2any', 'signed.pdf', {}, 415, /^UNSUPPORTED_SOURCE$/],
])('%s rejects %s with %j', async (app, infile, options, status, code) => {
  const outfile = app === 'html2pdf' || app === 'doc2any' ? 'a.pdf' : 'a.png';
  const refusal = await used().client.refuse(query(app, infile, outfile, options));

  expect(refusal.status).toBe(status);
  expect(refusal.code).toMatch(code);
});

it.each([
  ['pdftools', 'locked.pdf', 'a.png', '-upw', 'open sesame'],
  ['doc2any', 'locked.docx', 'a.pdf', '--password', 'geheim'],
])('%s opens %s only with its password', async (app, infile, outfile, name, password) => {
  const { client } = used();
  const { bytes } = await convert(app, infile, outfile, { [name]: password });
  const picture = outfile.endsWith('pdf') ? await drawPage(bytes, 1) : bytes;

  expect(await isBlank(picture)).toBe(false);
  expect(await client.refuse(query(app, infile, outfile))).toMatchObject({
    status: 422,
    code: 'PASSWORD_REQUIRED',
  });
  expect(await client.refuse(query(app, infile, outfile, { [name]: 'wrong' }))).toMatchObject({
    status: 422,
    code: 'WRONG_PASSWORD',
  });
});

describe('pdftools', () => {
  it.each(['png', 'jpg', 'webp', 'tiff'])('draws the first page as %s, at 150 DPI', async (format) => {
    const { bytes, contentType } = await convert('pdftools', 'report.pdf', `page.${format}`);

    expect(await sharp(bytes).metadata()).toMatchObject({ width: 1241, height: 1754 });
    expect(contentType).toBe({ jpg: 'image/jpeg', tiff: 'image/tiff' }[format] ?? `image/${format}`);
    expect(await difference(bytes, await drawPage(REPORT, 1))).toBeLessThan(3);
  });

  it('stacks the pages from -f to -l in one image, and reports the length of the document', async () => {
    const asked = query('pdftools', 'report.pdf', 'pages.png', { '-f': 11, '-l': 99, '-r': 36 });
    const { headers } = await used().client.ask(asked);
    const { bytes } = await used().client.convert(asked);

    expect(headers.get('x-page-count')).toBe('12');
    expect(await sharp(bytes).metadata()).toMatchObject({ width: 298, height: 2 * 421 });
  });

  it('returns one file per page for %d, in order and numbered by page', async () => {
    const options = { '-f': 9, '-l': 11, '-r': 36 };
    const results = await used().client.convertAll(query('pdftools', 'report.pdf', '%03d.jpg', options), 3);

    const names = results.map(({ address }) => new URL(address).pathname.split('/').at(-1));
    expect(names).toEqual(['009.jpg', '010.jpg', '011.jpg']);
    for (const [index, { bytes }] of results.entries())
      expect(await difference(bytes, await drawPage(REPORT, 9 + index, 0.5))).toBeLessThan(3);
  });

  it('returns an archive of all pages for .zip', async () => {
    const { bytes, contentType } = await convert('pdftools', 'report.pdf', 'all.png.zip', { '-r': 36 });
    const files = await unzip(bytes);

    expect(contentType).toBe('application/zip');
    expect(files.map(({ name }) => name)).toEqual(
      Array.from({ length: 12 }, (_, index) => `all-${index + 1}.png`),
    );
    expect(await difference(files[11]!.content, await drawPage(REPORT, 12, 0.5))).toBeLessThan(3);
  });
});

describe('html2image', () => {
  it.each(['png', 'jpg', 'webp'])('shows the whole page as %s, 1024 wide', async (format) => {
    const { bytes, contentType } = await convert('html2image', 'bands.html', `a.${format}`);
    const { width, height } = await sharp(bytes).metadata();

    expect(width).toBe(1024);
    expect(height).toBeGreaterThanOrEqual(1600);
    expect(height).toBeLessThan(1630);
    expect(contentType).toBe(format === 'jpg' ? 'image/jpeg' : `image/${format}`);
  });

  it('waits for web fonts and lazy images, and has emoji and a glyph for every Chinese character', async () => {
    const { bytes } = await convert('html2image', 'bands.html', 'a.png');
    const part = (left: number, top: number, width: number) =>
      sharp(bytes).extract({ left, top, width, height: 100 }).png().toBuffer();
    const [one, other] = [await part(0, 300, 80), await part(80, 300, 80)];

    // Ten narrow letters are 301 pixels wide in the font of the page, and 139 in its substitute.
    expect(await pixel(bytes, 290, 150)).toEqual([0, 0, 255, 255]);
    expect(await pixel(bytes, 310, 150)).toEqual([255, 255, 255, 255]);
    expect(
      await difference(await part(0, 1500, 100), await quarters(100, 100).png().toBuffer()),
    ).toBeLessThan(3);
    expect(await hasEmoji(await part(0, 200, 120))).toBe(true);
    expect([await isBlank(one), await isBlank(other)]).toEqual([false, false]);
    expect(await difference(one, other)).toBeGreaterThan(5);
  });

  it('sends cookies, headers and a password to the page', async () => {
    const options = {
      '--cookie': 'a:1',
      '--custom-header': 'X-Test:yes',
      '--username': 'u',
      '--password': 'p',
    };
    const [given, without] = [
      await convert('html2image', 'echo.html', 'a.png', { ...options, '--height': 20 }),
      await convert('html2image', 'echo.html', 'a.png', { '--height': 20 }),
    ];

    expect(await pixel(given.bytes, 5, 5)).toEqual([0, 170, 0, 255]);
    expect(await pixel(without.bytes, 5, 5)).toEqual([255, 0, 0, 255]);
  });
});

describe('html2pdf', () => {
  it('is A4 with the text, the title, the links and the background of the page', async () => {
    const { bytes } = await convert('html2pdf', 'bands.html', 'a.pdf');
    const { pages, title } = await readPdf(bytes);
    const text = pages.map((page) => page.text).join(' ');
    const drawn = await drawPage(bytes, 1, 2);
    const edge = Math.round((10 / 25.4) * 72 * 2);

    // Chromium rounds the paper to its pixels of three quarters of a point.
    expect(Math.abs(pages[0]!.width - 595.28)).toBeLessThan(1);
    expect(Math.abs(pages[0]!.height - 841.89)).toBeLessThan(1.2);
    expect(title).toBe('Bands');
    for (const words of ['漢字', 'Grüße aus Köln', 'script ran']) expect(text).toContain(words);
    expect(pages.flatMap(({ links }) => links)).toEqual(['https://example.org/further']);
    expect(await hasEmoji(drawn)).toBe(true);
    expect(used().sources.asked).toContain('late.png');
    // Margins of 10 mm, and the style for screens.
    expect(await pixel(drawn, edge - 4, edge + 20)).toEqual([255, 255, 255, 255]);
    expect(await pixel(drawn, edge + 20, edge + 20)).toEqual([255, 0, 0, 255]);
  });

  it('prints twelve chapters on twelve pages, reports it, and lists options without effect', async () => {
    const asked = query('html2pdf', 'chapters.html', 'a.pdf', { '--dpi': 300, '--copies': '1' });
    const { headers } = await used().client.ask(asked);
    const { pages } = await readPdf((await used().client.convert(asked)).bytes);

    expect(headers.get('x-page-count')).toBe('12');
    expect(headers.get('x-ignored-options')?.split(', ').sort()).toEqual(['--copies', '--dpi']);
    expect(pages.map(({ text }) => text)).toEqual(CHAPTERS);
  });
});

describe('imageproc', () => {
  it.each([
    ...['jpg', 'png', 'webp', 'gif', 'tiff', 'avif', 'bmp'].map((format) => [format, 400, 300] as const),
    ['ico', 256, 192],
  ] as const)('writes %s, which it reads again', async (format, width, height) => {
    const infile = await used().client.resultUrl(query('imageproc', 'quarters.png', `a.${format}`));
    const { bytes } = await used().client.convert({ app: 'imageproc', infile, outfile: 'b.png' });

    expect(await sharp(bytes).metadata()).toMatchObject({ width, height });
    expect(await difference(bytes, await quarters(400, 300).png().toBuffer())).toBeLessThan(5);
  });

  it('accepts ! raw and as %21', async () => {
    const { client, service, sources } = used();
    const infile = sources.urlOf('quarters.png');

    for (const geometry of ['120x50!', '120x50%21']) {
      const { body } = await client.send(
        `apikey=${service.apiKey}&app=imageproc&infile=${infile}&outfile=a.jpg&-resize=${geometry}`,
      );
      const bytes = Buffer.from(await (await fetch(body.slice(9, -4))).arrayBuffer());
      expect(await sharp(bytes).metadata()).toMatchObject({ width: 120, height: 50 });
    }
  });

  it('applies operators from left to right', async () => {
    const args = ['-crop 200x150+0+0 -resize 100x', '-resize 100x -crop 200x150+0+0'];
    const [cropped, resized] = await Promise.all(
      args.map((each) => convert('imageproc', 'quarters.png', 'a.png', { _args: each })),
    );

    for (const [{ bytes }, corner] of [
      [cropped!, QUARTERS.topLeft],
      [resized!, QUARTERS.bottomRight],
    ] as const) {
      const { width, height } = await sharp(bytes).metadata();
      const found = await pixel(bytes, width - 4, height - 4);
      for (const [channel, value] of corner.entries())
        expect(Math.abs(found[channel]! - value)).toBeLessThanOrEqual(12);
      expect([width, height]).toEqual([100, 75]);
    }
  });
});

describe('doc2any', () => {
  it.each(OFFICE)('converts %s to a PDF with the same text', async (name) => {
    const { bytes, contentType } = await convert('doc2any', name, 'a.pdf');
    const { pages } = await readPdf(bytes);
    const text = pages.map((page) => page.text).join(' ');

    expect(contentType).toBe('application/pdf');
    // A spreadsheet shows as much of a text as fits into its cell.
    const words = ['Grüße aus Köln', ...(name.startsWith('sheet') ? [] : ['漢字', 'かな', '한글'])];
    for (const word of words) expect(text).toContain(word);
    expect(await isBlank(await drawPage(bytes, 1))).toBe(false);
  });

  it('recognizes one of its results by its name', async () => {
    const infile = await used().client.resultUrl(query('doc2any', 'sheet.xlsx', 'table.csv'));
    const { bytes } = await used().client.convert({ app: 'doc2any', infile, outfile: 'table.xlsx' });

    expect(bytes.subarray(0, 2).toString()).toBe('PK');
  });

  it('makes a PDF of an image, with the properties of the options', async () => {
    const { bytes } = await convert('doc2any', 'quarters.png', 'a.pdf', { '--title': 'Photo' });

    expect(await readPdf(bytes)).toMatchObject({ title: 'Photo', pages: [{}] });
    expect(
      await used().client.refuse(query('doc2any', 'quarters.png', 'a.pdf', { '--watermark': 'x' })),
    ).toMatchObject({ code: 'BAD_PARAMETER' });
  });

  it('puts all pages in the order that is given', async () => {
    const { bytes } = await convert('doc2any', 'text.docx', 'a.pdf', { '--pages': '3,1,2' });
    const { pages } = await readPdf(bytes);

    expect(pages.map(({ text }) => text.split(' Seite')[0])).toEqual(['Dritte', 'Erste', 'Zweite']);
  });

  it.each(['.docx', 'docx', '.DOCX'])('uses in_ext=%s for a source without a name', async (extension) => {
    const { bytes } = await convert('doc2any', 'report', 'a.pdf', { in_ext: extension });

    expect((await readPdf(bytes)).pages).toHaveLength(3);
  });

  it('lists an in_ext that it does not know among the ignored options', async () => {
    const { headers } = await used().client.ask(
      query('doc2any', 'text.docx', 'a.pdf', { in_ext: '.unknown' }),
    );

    expect(headers.get('x-ignored-options')).toBe('in_ext');
    expect(headers.get('x-page-count')).toBe('3');
  });

  it('says why a PDF does not become a document of Word', async () => {
    const refusal = await used().client.refuse(query('doc2any', 'signed.pdf', 'a.docx'));

    expect(refusal.code).toBe('UNSUPPORTED_CONVERSION');
    expect(refusal.message).toContain('no paragraphs or tables that could be edited');
  });
});
