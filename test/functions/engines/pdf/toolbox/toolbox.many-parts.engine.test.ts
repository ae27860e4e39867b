import { expect, it } from 'vitest';
import { createEngine } from '../../../../../functions/pdftools/convert.ts';
import { pdftools } from '../../../../../functions/pdftools/tool.ts';
import { pdfOf } from '../../../../fixtures/pdf.ts';
import { unzip } from '../../../../helpers/zip.ts';
import { useEngine } from '../../../conversion.ts';

const { convertOne, refusal } = useEngine(pdftools, createEngine);

const count = (length: number) => Array.from({ length }, (_, index) => index);
const stream = (entries: string, data: string) =>
  `<<${entries}/Length ${data.length}>>\nstream\n${data}\nendstream`;
const LONG = 'x'.repeat(120);

/** Returns a PDF with a page whose catalog, entries and further objects (from 4) are given. */
function pageOf(catalog: string, entries: string, objects: readonly string[]): Buffer {
  return pdfOf([
    `<</Type/Catalog/Pages 2 0 R${catalog}>>`,
    '<</Type/Pages/Count 1/Kids[3 0 R]>>',
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]${entries}>>`,
    ...objects,
  ]);
}

// Each of these documents has so many parts that a list of them exceeds the limit of an engine's answer.

it('gives thousands of attached files', async () => {
  const files = count(5000).flatMap((at) => [
    `<</Type/Filespec/F(${LONG}-${at}.txt)/EF<</F ${5 + 2 * at} 0 R>>>>`,
    stream('/Type/EmbeddedFile', `file ${at}`),
  ]);
  const names = count(5000).map((at) => `(${at})${4 + 2 * at} 0 R`);
  const source = pageOf(`/Names<</EmbeddedFiles<</Names[${names.join('')}]>>>>`, '', files);

  const archive = await unzip(await convertOne(source, { format: 'zip', options: '-attachments' }));

  expect(archive).toHaveLength(5000);
  expect(String(archive.at(-1)!.content)).toBe('file 4999');
});

it('names some obstacles of a document that has thousands, and how many there are', async () => {
  const fonts = count(6000).map((at) => `<</Type/Font/Subtype/TrueType/BaseFont/${at}${LONG}>>`);
  const names = fonts.map((_, at) => `/F${at} ${5 + at} 0 R`).join('');
  const text = stream('', `BT ${fonts.map((_, at) => `/F${at} 9 Tf (a) Tj`).join(' ')} ET`);
  const source = pageOf('', `/Contents 4 0 R/Resources<</Font<<${names}>>>>`, [text, ...fonts]);

  const { message, issues } = await refusal(source, { format: 'pdf', options: '--pdf-version=PDF/A-2b' });

  expect(message).toMatch(/There are 5995 more obstacles\.$/);
  expect(issues).toHaveLength(100);
});

it('converts a document with thousands of damaged objects', async () => {
  const fonts = count(6000).map((at) => `<</Type/Font/BaseFont/a[31m${at}${LONG}>>`);
  const names = fonts.map((_, at) => `/F${at} ${4 + at} 0 R`).join('');
  const source = pageOf('', `/Resources<</Font<<${names}>>>>`, fonts);

  const pdf = await convertOne(source, { format: 'pdf', options: '-watermark=X' });

  expect(pdf.toString('latin1', 0, 5)).toBe('%PDF-');
});
