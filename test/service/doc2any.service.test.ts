import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { quarters } from '../fixtures/image.ts';
import { makePdf, numberedPages } from '../fixtures/pdf.ts';
import { drawPage, readPdf } from '../helpers/pdf.ts';
import { isBlank } from '../helpers/pixels.ts';
import { useService } from './server/use-service.ts';

const FOLDER = join(import.meta.dirname, '../fixtures/office');
const WRITTEN = ['text.doc', 'text.docx', 'text.rtf'];
const SHEETS = ['sheet.xls', 'sheet.xlsx'];
const SLIDES = ['slides.ppt', 'slides.pptx'];
const LOCKED = ['locked.doc', 'locked.docx', 'locked.xls', 'locked.xlsx', 'locked.pptx'];

const read = (name: string) => readFile(join(FOLDER, name));

const used = useService(async () => ({
  ...Object.fromEntries(
    await Promise.all(
      [...WRITTEN, ...SHEETS, ...SLIDES, ...LOCKED].map(async (name) => [name, await read(name)] as const),
    ),
  ),
  // As a download without a name.
  report: await read('text.docx'),
  'misnamed.doc': await read('text.docx'),
  'half.docx': (await read('text.docx')).subarray(0, 3000),
  'noise.docx': Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7919) % 256)),
  'page.doc': '<!doctype html><p>an error page</p><img src="file:///etc/hostname">',
  'signed.pdf': Buffer.concat([makePdf(numberedPages(1)), Buffer.from('% /ByteRange')]),
  'empty.docx': '',
  'photo.jpg': await quarters(96, 48).jpeg().toBuffer(),
}));

const ask = (infile: string, options: Record<string, string | number> = {}, outfile = 'a.pdf') => ({
  app: 'doc2any',
  infile: used().sources.urlOf(infile),
  outfile,
  ...options,
});

describe('doc2any', () => {
  it.each([...WRITTEN, ...SHEETS, ...SLIDES])('converts %s to a PDF with the same text', async (name) => {
    const { bytes, contentType } = await used().client.convert(ask(name));

    const { pages } = await readPdf(bytes);
    const text = pages.map((page) => page.text).join(' ');
    expect(contentType).toBe('application/pdf');
    // A spreadsheet shows as much of a text as fits into its cell.
    const words = SHEETS.includes(name) ? ['Grüße aus Köln'] : ['Grüße aus Köln', '漢字', 'かな', '한글'];
    for (const word of words) expect(text).toContain(word);
    expect(await isBlank(await drawPage(bytes, 1))).toBe(false);
  });

  it('makes a PDF of an image, with the properties of the options', async () => {
    const { bytes } = await used().client.convert(ask('photo.jpg', { '--title': 'Photo' }));

    expect(await readPdf(bytes)).toMatchObject({ title: 'Photo', pages: [{ width: 72, height: 36 }] });
    expect(await used().client.refuse(ask('photo.jpg', { '--watermark': 'x' }))).toMatchObject({
      code: 'BAD_PARAMETER',
    });
  });

  it('recognizes one of its results by its name', async () => {
    const { client } = used();
    const table = await client.resultUrl(ask('sheet.xlsx', {}, 'table.csv'));
    const { bytes } = await client.convert({ app: 'doc2any', infile: table, outfile: 'table.xlsx' });

    expect(bytes.subarray(0, 2).toString()).toBe('PK');
  });

  it('puts all pages in the order that is given', async () => {
    const { bytes } = await used().client.convert(ask('text.docx', { '--pages': '3,1,2' }));
    const { pages } = await readPdf(bytes);
    const { pages: inOrder } = await readPdf((await used().client.convert(ask('text.docx'))).bytes);

    expect(pages.map(({ text }) => text)).toEqual([2, 0, 1].map((page) => inOrder[page]!.text));
  });

  it.each(WRITTEN)('keeps the three pages of %s, A4', async (name) => {
    const { client } = used();
    const { headers } = await client.ask(ask(name));
    const { pages } = await readPdf((await client.convert(ask(name))).bytes);

    expect(headers.get('x-page-count')).toBe('3');
    expect(pages.map(({ width, height }) => [Math.round(width), Math.round(height)])).toEqual(
      Array.from({ length: 3 }, () => [595, 842]),
    );
    expect(pages.map(({ text }) => text.split(' Seite')[0])).toEqual(['Erste', 'Zweite', 'Dritte']);
    expect(pages[0]!.text).toContain('Äpfel');
    expect(pages[1]!.text).toContain('Zeile 30');
  });

  it.each(SLIDES)('shows the two slides of %s, not the hidden one', async (name) => {
    const { pages } = await readPdf((await used().client.convert(ask(name))).bytes);

    expect(pages).toHaveLength(2);
    expect(pages[1]!.text).toContain('Zweite Folie');
    expect(pages[0]!.width).toBeGreaterThan(pages[0]!.height);
  });

  it.each(SHEETS)('shows both sheets of %s', async (name) => {
    const { pages } = await readPdf((await used().client.convert(ask(name))).bytes);

    const text = pages.map((page) => page.text).join(' ');
    for (const words of ['Monat 14', '105', 'Zweites Blatt']) expect(text).toContain(words);
  });

  it.each(['.docx', 'docx', '.DOCX'])('uses in_ext=%s for a source without a name', async (extension) => {
    const { bytes } = await used().client.convert(ask('report', { in_ext: extension }));

    expect((await readPdf(bytes)).pages).toHaveLength(3);
  });

  it.each([
    ['report', {}],
    ['misnamed.doc', {}],
    ['text.docx', { in_ext: '.xls' }],
    ['text.docx', { in_ext: '.pages' }],
  ])('trusts the bytes of %s more than its name, or %j', async (name, options) => {
    const { bytes } = await used().client.convert(ask(name, options));

    expect((await readPdf(bytes)).pages).toHaveLength(3);
  });

  it('lists an in_ext that it does not know among the ignored options', async () => {
    const { status, headers } = await used().client.ask(ask('text.docx', { in_ext: '.unknown' }));

    expect([status, headers.get('x-ignored-options')]).toEqual([200, 'in_ext']);
  });

  it('converts the requested pages', async () => {
    const { client } = used();
    const [range, list] = [
      await readPdf((await client.convert(ask('text.docx', { '-f': 2, '-l': 2 }))).bytes),
      await readPdf((await client.convert(ask('text.docx', { '--pages': '1,!1' }))).bytes),
    ];

    expect(range.pages.map(({ text }) => text.slice(0, 6))).toEqual(['Zweite']);
    expect(list.pages.map(({ text }) => text.slice(0, 6))).toEqual(['Erste ', 'Dritte']);
  });

  it.each(LOCKED)('opens %s only with its password', async (name) => {
    const { client } = used();
    const { bytes } = await client.convert(ask(name, { '--password': 'geheim' }));

    expect((await readPdf(bytes)).pages.length).toBeGreaterThanOrEqual(1);
    expect(await client.refuse(ask(name))).toMatchObject({ status: 422, code: 'PASSWORD_REQUIRED' });
    expect(await client.refuse(ask(name, { '--password': 'wrong' }))).toMatchObject({
      code: 'WRONG_PASSWORD',
    });
  });

  it.each([
    ['half.docx', 422, /^CORRUPT_SOURCE$/],
    ['empty.docx', 422, /^CORRUPT_SOURCE$/],
    ['noise.docx', 415, /^UNSUPPORTED_SOURCE$/],
    ['signed.pdf', 415, /^UNSUPPORTED_SOURCE$/],
  ])('rejects %s', async (name, status, code) => {
    const refusal = await used().client.refuse(ask(name));

    expect(refusal.code).toMatch(code);
    expect(refusal.status).toBe(status);
  });

  it('says why a PDF does not become a document of Word', async () => {
    const refusal = await used().client.refuse(ask('signed.pdf', {}, 'a.docx'));

    expect(refusal.code).toBe('UNSUPPORTED_CONVERSION');
    expect(refusal.message).toContain('no paragraphs or tables that could be edited');
  });

  it('converts HTML named .doc, without the file that it refers to', async () => {
    const { bytes } = await used().client.convert(ask('page.doc'));

    const { pages } = await readPdf(bytes);
    expect(pages.map(({ text }) => text.trim())).toEqual(['an error page']);
  });

  it('rejects pages past the end', async () => {
    expect(await used().client.refuse(ask('text.docx', { '-f': 4 }))).toMatchObject({ code: 'PAGE_RANGE' });
  });
});
