import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../functions/pdftools/convert.ts';
import { pdftools } from '../../../functions/pdftools/tool.ts';
import { A4, makePdf, numberedPages, packedPdf, pdfOf } from '../../fixtures/pdf.ts';
import { readPdf } from '../../helpers/pdf.ts';
import { pixel } from '../../helpers/pixels.ts';
import { useEngine } from '../conversion.ts';
import { RED } from './picture.ts';

const { convert, convertOne, refusal } = useEngine(pdftools, createEngine);

describe('other formats', () => {
  const five = makePdf(numberedPages(5, { width: 300, height: 200 }));

  it('write selected pages as pages of one TIFF, each with its own size', async () => {
    const mixed = makePdf([
      ...numberedPages(1, { width: 100, height: 80 }),
      ...numberedPages(1, { width: 300, height: 200 }),
    ]);

    const tiff = await convertOne(mixed, { format: 'tiff', options: '-r=144 -f=1' });

    const second = await sharp(tiff, { page: 1 }).metadata();
    expect(second).toMatchObject({ pages: 2, width: 600, height: 400, density: 144 });
    const first = await sharp(tiff, { page: 0 }).metadata();
    expect(first).toMatchObject({ width: 200, height: 160 });
    expect(await pixel(await sharp(tiff, { page: 1 }).png().toBuffer(), 20, 20)).toEqual(RED);
  });

  it('write 1-bit TIFFs with CCITT group 4 compression', async () => {
    const tiff = await convertOne(five, { format: 'tiff', options: '-r=300 -mono' });

    // The tag 259, compression, with the value 4: CCITT group 4.
    expect(tiff.includes(Buffer.from('03010300010000000400', 'hex'))).toBe(true);
    expect(tiff.length).toBeLessThan(20_000);
  });

  it('write the text of pages', async () => {
    const text = await convertOne(five, { format: 'txt', options: '-f=2 -l=3' });

    expect(text.toString()).toBe('Page 2\n\fPage 3\n\f');
    const marked = await convertOne(five, { format: 'txt', options: '-f=2 -l=2 -output-encoding=utf-8-bom' });
    expect(marked.toString()).toBe('\ufeffPage 2\n\f');
  });

  it.each([
    ['', (x: number, y: number) => `1 0 0 1 ${x} ${y}`],
    [' that is turned left', (x: number, y: number) => `0 1 -1 0 ${740 - y} ${x}`],
    [' that is turned right', (x: number, y: number) => `0 -1 1 0 ${y - 600} ${700 - x}`],
    [' upside down', (x: number, y: number) => `-1 0 0 -1 ${500 - x} ${750 - y}`],
  ])('keeps columns of a text%s below each other', async (_, matrix) => {
    const cells = [
      ['Item', 'Price'],
      ['A long name', '1.50'],
      ['Tea', '12.00'],
    ];
    // Column after column, as some programs write tables.
    const show = (text: string, x: number, row: number) => `${matrix(x, 700 - 20 * row)} Tm (${text}) Tj`;
    const shown = [0, 1].flatMap((column) =>
      cells.map((row, at) => show(row[column]!, 50 + 150 * column, at)),
    );
    const off = '1 0 0 1 -5000 100 Tm (off the page) Tj';
    const source = makePdf([{ content: `BT /F1 12 Tf ${shown.join(' ')} ${off} ET` }]);

    const text = await convertOne(source, { format: 'txt', options: '-layout' });

    const lines = text.toString().trimEnd().split('\n');
    const start = lines[1]!.indexOf('1.50');
    expect(start).toBeGreaterThan('A long name'.length);
    expect(lines).toEqual(cells.map(([name, price]) => `${name!.padEnd(start)}${price}`));
  });

  it('join words that are hyphenated at the end of a line', async () => {
    const lines = 'BT /F1 14 Tf 50 160 Td (A well-known para-) Tj 0 -16 Td (graph) Tj ET';

    const text = await convertOne(makePdf([{ content: lines }]), { format: 'txt' });

    expect(text.toString().trim()).toBe('A well-known paragraph');
  });

  it.each([
    ['of a word', 'The <quick> (quick) brown fox', 'The quick brown fox'],
    ['that is longer than its glyphs', 'The <quick yel> (abc)low brown fox', 'The quick yellow brown fox'],
    ['of several pieces', '<21.09.2023> (21) (.) (09) (.2023)', '21.09.2023'],
    ['at the start and the end of a line', '<A> (A) fox and a <dog> (dog)', 'A fox and a dog'],
    ['that is empty', 'A fox<> (hidden) and a dog', 'A fox and a dog'],
  ])('write the replacement text %s', async (_, line, expected) => {
    // The text between angle brackets stands for the glyphs in the following parentheses.
    const spans = line.split(/(<[^>]*>(?: \([^)]*\))+)/).map((part) => {
      const [, actual, glyphs] = /^<([^>]*)>((?: \([^)]*\))+)$/.exec(part) ?? [];
      if (actual === undefined) return `(${part}) Tj`;
      const shown = glyphs!
        .trim()
        .split(' ')
        .map((text) => `${text} Tj`);
      return `/Span << /ActualText (${actual}) >> BDC ${shown.join(' ')} EMC`;
    });
    const content = `BT /F1 14 Tf 20 100 Td ${spans.join(' ')} ET`;

    const text = await convertOne(makePdf([{ content }]), { format: 'txt' });

    expect(text.toString().trim()).toBe(`${expected}`.trim());
  });

  it('write a replacement text in UTF-16 that two pages share', async () => {
    const content = 'BT /F 14 Tf 20 100 Td (one ) Tj /Span /Word BDC (two) Tj EMC ( three) Tj ET';
    const page =
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << /Font << /F << /Type /Font ' +
      '/Subtype /Type1 /BaseFont /Helvetica >> >> /Properties << /Word 5 0 R >> >> >>';
    const pdf = pdfOf([
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Count 2 /Kids [3 0 R 6 0 R] >>',
      page,
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      '<< /ActualText <FEFFD83DDE00> >>',
      page,
    ]);

    const text = await convertOne(pdf, { format: 'txt' });

    expect(text.toString()).toBe('one 😀 three\n\fone 😀 three\n\f');
  });

  it.each([
    ['with control characters', '61 0C 62 1B 63', 'a b c'],
    ['of four bytes', 'F0 9F 98 80', '😀'],
    [
      'with bytes that are not UTF-8',
      'C3 28 61 ED A0 80 C0 AF E2 82',
      '\ufffd(a\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd',
    ],
  ])('write a replacement text in UTF-8 %s', async (_, bytes, expected) => {
    const content = `BT /F1 14 Tf 20 100 Td /Span << /ActualText <EFBBBF ${bytes}> >> BDC (x) Tj EMC ET`;

    const text = await convertOne(makePdf([{ content }]), { format: 'txt' });

    expect(text.toString()).toBe(`${expected}\n\f`);
  });

  it('write the accents of PDFDocEncoding', async () => {
    const content = 'BT /F1 14 Tf 20 100 Td /Span << /ActualText <18191A1B1C1D1E1F80A0> >> BDC (x) Tj EMC ET';

    const text = await convertOne(makePdf([{ content }]), { format: 'txt' });

    expect(text.toString()).toBe('˘ˇˆ˙˝˛˚˜•€\n\f');
  });

  it('fail for a page that no engine can read', async () => {
    const pdf = pdfOf([
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Count 2 /Kids [3 0 R 4 0 R] >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] >>',
      '42',
    ]);

    await expect(convertOne(pdf, { format: 'txt' })).rejects.toMatchObject({ code: 'CORRUPT_SOURCE' });
  });

  it('write the text of a document that only pdf.js can open', async () => {
    const text = await convertOne(packedPdf('Page 1', { brotli: true }), { format: 'txt' });

    expect(text.toString()).toBe('Page 1\n\f');
  });

  it('write U+FFFD for characters whose font does not tell their meaning', async () => {
    const codes = 'BT /F1 14 Tf 50 160 Td (4\\001,\\014\\015\\002,5) Tj 0 -40 Td (6) Tj ET';

    const text = await convertOne(makePdf([{ content: codes }]), { format: 'txt' });

    expect(text.toString()).toBe('4\ufffd,\ufffd\ufffd\ufffd,5\n6\n\f');
  });

  it('write the values of form fields unless annotations are hidden', async () => {
    const pdf = makePdf([
      { text: 'Page 1', field: 'Value 1' },
      { text: 'Page 2', field: 'Value 2' },
    ]);

    const text = await convertOne(pdf, { format: 'txt' });

    const hidden = await convertOne(pdf, { format: 'txt', options: '-hide-annotations' });
    expect(text.toString()).toBe('Page 1\nValue 1\n\fPage 2\nValue 2\n\f');
    expect(hidden.toString()).toBe('Page 1\n\fPage 2\n\f');
  });

  it.each([
    ['hidden', 2],
    ['not displayed', 32],
  ])('leave out the text of annotations that are %s', async (_, flags) => {
    const pdf = makePdf([{ text: 'Page', field: 'Value' }]).toString('latin1');

    const text = await convertOne(Buffer.from(pdf.replace('/F 4 ', `/F ${flags} `), 'latin1'), {
      format: 'txt',
    });

    expect(text.toString()).toBe('Page\n\f');
  });

  it('write selected pages as PDF, rotated and decrypted', async () => {
    const locked = makePdf(numberedPages(5), { password: 'sesame' });

    const options = '-upw=sesame -pages=4,2 -rotate=90';
    const pdf = await convertOne(locked, { format: 'pdf', options });
    const ordered = await convertOne(locked, { format: 'pdf', options: `${options} -linearize` });

    const { pages } = await readPdf(pdf);
    expect(pages.map(({ text }) => text)).toEqual(['Page 4', 'Page 2']);
    expect(pages[0]).toMatchObject({ width: A4.height, height: A4.width });
    expect([pdf, ordered].map((each) => each.includes('/Linearized'))).toEqual([false, true]);
  });

  it('warn that a rewritten PDF loses its signatures', async () => {
    const objects = [
      '<< /Type /Catalog /Pages 2 0 R /AcroForm << /SigFlags 3 /Fields [4 0 R] >> >>',
      '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Annots [4 0 R] >>',
      '<< /Type /Annot /Subtype /Widget /FT /Sig /T (s) /Rect [0 0 0 0] /P 3 0 R /V << /Type /Sig /Filter /Adobe.PPKLite ' +
        '/SubFilter /adbe.pkcs7.detached /ByteRange [0 10 20 10] /Contents <00> >> >>',
    ];

    const { warnings } = await convert(pdfOf(objects), { format: 'pdf' });

    expect(warnings).toEqual([
      'The signatures of the PDF are not valid in the result, because it was rewritten.',
    ]);
    expect((await convert(five, { format: 'pdf' })).warnings).toEqual([]);
    expect((await convert(pdfOf(objects), { format: 'png' })).warnings).toEqual([]);
  });

  it('do not hide annotations in a PDF, so the option is refused', async () => {
    const answer = await refusal(five, { format: 'pdf', options: '-hide-annotations' });

    expect(answer).toMatchObject({
      code: 'BAD_PARAMETER',
      message: "Parameter '-hide-annotations' has no effect on pdf output.",
    });
  });

  it('write one PDF per page', async () => {
    const { files, pages } = await convert(five, { format: 'pdf', delivery: 'paged' });

    expect(pages).toEqual([1, 2, 3, 4, 5]);
    expect((await readPdf(files[3]!)).pages).toMatchObject([{ text: 'Page 4' }]);
  });
});
