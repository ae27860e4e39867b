import { describe, expect, it } from 'vitest';
import { createFallback } from '../../../functions/engines/pdf/pdfjs/fallback.ts';
import { createEngine } from '../../../functions/pdftools/convert.ts';
import { pdftools } from '../../../functions/pdftools/tool.ts';
import { PDF_BOMBS } from '../../fixtures/bombs.ts';
import { makePdf, numberedPages, packedPdf, pdfOf } from '../../fixtures/pdf.ts';
import { isBlank, pixel } from '../../helpers/pixels.ts';
import { useEngine, useOwnEngine } from '../conversion.ts';
import { createDrawingEngine } from './pdf-engine.ts';
import { RED, small } from './picture.ts';

const { convertOne, refusal } = useEngine(pdftools, createEngine);

/** One red page of 300 x 200 points: its catalog, tree, page and contents are the objects 1 to 4. */
function redPdf(): string {
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R >>',
    '<< /Length 26 >>\nstream\n1 0 0 rg 0 0 300 200 re f\nendstream',
  ]).toString('latin1');
}

describe('unusual documents', () => {
  it.each(['', '-number=%p'])('are rewritten by PDFium if qpdf cannot read them (%s)', async (options) => {
    // The first entry of the table is numbered 1 instead of 0.
    const source = Buffer.from(redPdf().replace('xref\n0 5', 'xref\n1 5'), 'latin1');

    const pdf = await convertOne(source, { format: 'pdf', options });

    const drawn = await convertOne(pdf, { format: 'png', options: '-r=40' });
    expect(await pixel(drawn, 5, 5)).toEqual(RED);
  });

  it.each(['png', 'txt', 'pdf', 'json'] as const)(
    'are not called damaged if they need a certificate (%s)',
    async (format) => {
      const encrypt = '/Encrypt<</Filter/Adobe.PubSec/SubFilter/adbe.pkcs7.s5/V 4/Length 128>>/ID[<00><00>]';
      const source = Buffer.from(redPdf().replace('/Root 1 0 R', `/Root 1 0 R${encrypt}`), 'latin1');

      const error = await refusal(source, { format });

      expect(error).toMatchObject({
        code: 'UNSUPPORTED_SOURCE',
        message: expect.stringContaining('certificates'),
      });
    },
  );

  const locked = makePdf(numberedPages(1), { password: 'sesame' });

  it('open with the user password and with the owner password', async () => {
    const byUser = await convertOne(locked, { format: 'png', options: '-r=40 -upw=sesame' });
    const byOwner = await convertOne(locked, { format: 'png', options: '-r=40 -opw=owner' });

    const open = await convertOne(makePdf(numberedPages(1)), { format: 'png', options: '-r=40' });
    expect(byUser).toEqual(open);
    expect(byOwner).toEqual(open);
  });

  it('are reported differently for a missing and a wrong password', async () => {
    const missing = await refusal(locked, { format: 'png' });
    const wrong = await refusal(locked, { format: 'png', options: '-upw=guess' });

    expect(missing).toMatchObject({ code: 'PASSWORD_REQUIRED' });
    expect(wrong).toMatchObject({ code: 'WRONG_PASSWORD' });
  });

  it('may have junk before the header', async () => {
    const picture = await convertOne(makePdf(numberedPages(1), { junk: `${'x'.repeat(900)}\n` }), {
      format: 'png',
      options: '-r=40',
    });

    expect(await isBlank(picture)).toBe(false);
  });

  it.each(['', '%\u00e2\u00e3\n'])('may lack a header: %j', async (start) => {
    const headless = Buffer.from(redPdf().replace(/^%PDF[^\n]*\n/, start), 'latin1');

    const picture = await convertOne(headless, { format: 'png', options: '-r=72' });
    const changed = await convertOne(headless, { format: 'pdf', options: '-number=%p' });

    expect(await pixel(picture, 20, 20)).toEqual(RED);
    expect(await pixel(await convertOne(changed, { format: 'png', options: '-r=72' }), 20, 20)).toEqual(RED);
  });

  it('may write numbers in ways that JSON does not know', async () => {
    const unusual = redPdf().replace('[0 0 300 200]', '[+0 -00.0 +300. +200.00] /Note (+.5 \\\\)');

    const changed = await convertOne(Buffer.from(unusual, 'latin1'), {
      format: 'pdf',
      options: '-number=%p',
    });

    const picture = await convertOne(changed, { format: 'png', options: '-r=72' });
    expect(await pixel(picture, 299, 199)).toEqual(RED);
  });

  it('may lack a cross-reference table', async () => {
    const whole = makePdf(numberedPages(1)).toString('latin1');
    const cut = Buffer.from(whole.replace(/xref\n0[\s\S]*trailer/, 'trailer'), 'latin1');

    const picture = await convertOne(cut, { format: 'png', options: '-r=40' });

    expect(await isBlank(picture)).toBe(false);
  });

  it.each([
    ['after the contents', 7],
    ['before the contents', -5],
    ['at another object', -100],
  ])('may have a cross-reference table that points to a place %s', async (_, shift) => {
    const plain = redPdf();
    const place = String(plain.indexOf('4 0 obj')).padStart(10, '0');
    const wrong = String(plain.indexOf('4 0 obj') + shift).padStart(10, '0');

    const picture = await convertOne(Buffer.from(plain.replace(place, wrong), 'latin1'), { format: 'png' });

    expect(await pixel(picture, 20, 20)).toEqual(RED);
  });

  it.each([
    ['the contents', 4],
    ['the page', 3],
    ['the page tree', 2],
  ])('may have a cross-reference table that declares %s free', async (_, number) => {
    const plain = redPdf();
    const place = `${String(plain.indexOf(`${number} 0 obj`)).padStart(10, '0')} 00000 n`;
    const wrong = Buffer.from(plain.replace(place, '0000000000 00001 f'), 'latin1');

    const picture = await convertOne(wrong, { format: 'png' });

    expect(await pixel(picture, 20, 20)).toEqual(RED);
  });

  it('may lack their end', async () => {
    const plain = redPdf();
    const cut = Buffer.from(plain.slice(0, plain.indexOf('trailer') - 5), 'latin1');

    const picture = await convertOne(cut, { format: 'png' });

    expect(await pixel(picture, 20, 20)).toEqual(RED);
  });

  it('are rejected if the contents of the page are missing with their end', async () => {
    const plain = redPdf();
    const cut = Buffer.from(plain.slice(0, plain.indexOf('4 0 obj')), 'latin1');

    expect(await refusal(cut, { format: 'png' })).toMatchObject({ code: 'CORRUPT_SOURCE' });
  });

  it('may have a cross-reference stream that points to a wrong place', async () => {
    const picture = await convertOne(packedPdf('Page 1', { shift: 9 }), { format: 'png' });

    expect(await isBlank(picture)).toBe(false);
  });

  it('are rejected if they are not PDF, or too damaged', async () => {
    const html = await refusal(Buffer.from('<html><body>%PDF is not here</body></html>'), { format: 'png' });
    const empty = await refusal(Buffer.alloc(0), { format: 'png' });
    const noise = await refusal(Buffer.from(`%PDF-1.7\n${'nothing '.repeat(500)}`), { format: 'png' });

    expect(html).toMatchObject({ code: 'UNSUPPORTED_SOURCE' });
    expect(empty).toMatchObject({ code: 'UNSUPPORTED_SOURCE' });
    expect(noise).toMatchObject({ code: 'CORRUPT_SOURCE' });
  });

  it('end at the deadline, and the next one converts', async () => {
    // Half a million curves take seconds.
    const slow = makePdf([{ content: '0 0 m 100 700 500 10 50 800 c S\n'.repeat(500_000) }]);

    const late = await refusal(slow, { format: 'png', options: '-r=600', time: 500 });
    expect(late).toMatchObject({ code: 'TIMED_OUT' });

    const next = await convertOne(small, { format: 'png', options: '-r=72' });
    expect(await isBlank(next)).toBe(false);
  });
});

// On a busy machine, the usual time for a page can run out before the memory does.
const times = { stall: 300_000, page: 300_000 };
const patient = useOwnEngine(pdftools, (dependencies) =>
  createDrawingEngine(dependencies, createFallback(dependencies), times),
);

it('rejects a document that needs too much memory', async () => {
  const bomb = PDF_BOMBS.find(({ name }) => name === 'pdf with a picture of 60000 × 60000')!;

  const answer = await patient.refusal(Buffer.from(await bomb.bytes()), { format: 'png' });

  expect(answer).toMatchObject({ code: 'SOURCE_TOO_LARGE' });
});

it('rewrites a document whose trailer is missing', async () => {
  const text = redPdf().replace(/xref\n0[\s\S]*/, '9 0 obj\n<< /Root 1 0 R >>\nendobj\n');
  const rewritten = await convertOne(Buffer.from(text, 'latin1'), { format: 'pdf' });

  expect(rewritten.toString('latin1')).toMatch(/\/Size \d/);
  expect(await pixel(await convertOne(rewritten, { format: 'png', options: '-r=10' }), 5, 5)).toEqual(RED);
});
