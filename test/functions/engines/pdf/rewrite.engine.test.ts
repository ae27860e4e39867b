import sharp from 'sharp';
import { expect, it } from 'vitest';
import { stampPdf } from '../../../../functions/engines/pdf/rewrite.ts';
import { createEngine } from '../../../../functions/pdftools/convert.ts';
import { pdftools } from '../../../../functions/pdftools/tool.ts';
import { defaultsOf } from '../../../../functions/shared/options/read-options.ts';
import { drawPage, readPdf } from '../../../helpers/pdf.ts';
import { useOwnEngine } from '../../conversion.ts';

const { convertOne } = useOwnEngine(pdftools, (dependencies) => {
  const engine = createEngine(dependencies);
  const options = { ...defaultsOf(pdftools.options), firstPage: 1, lastPage: 1, watermark: 'DEMO' };
  return { ...engine, convert: (conversion) => engine.convert({ ...conversion, options }) };
});

/** Returns a PDF of two empty pages with these boxes. */
function pdf(box: readonly number[], more = ''): Buffer {
  const page = `<< /Type /Page /Parent 2 0 R /MediaBox [${box.join(' ')}] ${more} >>`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>',
    page,
    page,
  ];
  const body = objects.map((object, index) => `${index + 1} 0 obj\n${object}\nendobj\n`).join('');
  return Buffer.from(`%PDF-1.4\n${body}trailer\n<< /Root 1 0 R >>\n%%EOF\n`);
}

/** Share of red pixels in each third of a picture, along its longer side. */
async function redThirds(picture: Buffer): Promise<number[]> {
  const { data, info } = await sharp(picture).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const thirds = [0, 0, 0];
  for (let at = 0; at < data.length; at += 3) {
    const [x, y] = [(at / 3) % info.width, Math.floor(at / 3 / info.width)];
    const along = info.width > info.height ? x / info.width : y / info.height;
    if (data[at]! > data[at + 1]! + 40) thirds[Math.min(2, Math.floor(3 * along))]! += 1;
  }
  return thirds.map((count) => (3 * count) / (info.width * info.height));
}

it.each([
  ['A4', [0, 0, 595, 842], ''],
  ['a slide', [0, 0, 960, 540], ''],
  ['a page as tall as its content', [0, 0, 595, 9000], ''],
  ['a wide page', [0, 0, 8000, 300], ''],
  ['a small page', [0, 0, 60, 40], ''],
  ['a rotated page', [0, 0, 595, 842], '/Rotate 90'],
  ['a page whose box starts elsewhere', [-300, 200, 295, 1042], ''],
  ['a page with a crop box', [0, 0, 1200, 1200], '/CropBox [700 700 1100 1100]'],
])('draws a watermark across the first page of %s, and leaves out the others', async (_, box, more) => {
  const bytes = await convertOne(pdf(box, more), { format: 'pdf' });

  const { pages } = await readPdf(bytes);
  expect(pages).toHaveLength(1);
  expect(pages[0]!.text).toContain('DEMO');
  const { width, height } = pages[0]!;
  const thirds = await redThirds(await drawPage(bytes, 1, 900 / Math.max(width, height)));
  const isSquare = Math.max(width, height) < 2 * Math.min(width, height);
  for (const share of isSquare ? [thirds[1]!] : thirds) expect(share).toBeGreaterThan(0.02);
});

it('cannot be set by a caller', () => {
  expect(pdftools.options.watermark.names).toEqual([]);
});

it('contains one page of the given size', async () => {
  const { pages } = await readPdf(stampPdf('DEMO', { width: 300, height: 400 }));

  expect(pages).toMatchObject([{ width: 300, height: 400, text: 'DEMO' }]);
});
