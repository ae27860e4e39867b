import { deflateSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { createEngine } from '../../../../../functions/pdftools/convert.ts';
import { pdftools } from '../../../../../functions/pdftools/tool.ts';
import { pdfOf } from '../../../../fixtures/pdf.ts';
import { useEngine } from '../../../conversion.ts';

const { convertOne } = useEngine(pdftools, createEngine);

const count = (length: number) => Array.from({ length }, (_, index) => index);
const stream = (entries: string, data: string) =>
  `<<${entries}/Length ${data.length}>>\nstream\n${data}\nendstream`;
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

it('draws over a page with tens of thousands of content streams', async () => {
  const contents = count(46_000).map(() => stream('', 'n'));
  const source = pageOf('', `/Contents[${contents.map((_, at) => `${4 + at} 0 R`).join(' ')}]`, contents);

  expect((await convertOne(source, { format: 'pdf', options: '-watermark=X' })).length).toBeGreaterThan(
    46_000,
  );
});

it('reduces thousands of images', async () => {
  const data = deflateSync(Buffer.alloc(1600, 'an image')).toString('latin1');
  const image =
    '/Subtype/Image/Width 40/Height 40/ColorSpace/DeviceGray/BitsPerComponent 8/Filter/FlateDecode';
  const images = count(8000).map(() => stream(image, data));
  const names = images.map((_, at) => `/I${at} ${5 + at} 0 R`).join('');
  const content = stream(
    '',
    images.map((_, at) => `q 2 0 0 2 ${at % 198} ${at / 80} cm /I${at} Do Q`).join('\n'),
  );
  const source = pageOf('', `/Contents 4 0 R/Resources<</XObject<<${names}>>>>`, [content, ...images]);

  const pdf = await convertOne(source, { format: 'pdf', options: '-optimize=72' });

  const described = JSON.parse(String(await convertOne(pdf, { format: 'json' })));
  expect(described.images).toHaveLength(8000);
  expect(described.images.every(({ width }: { width: number }) => width < 40)).toBe(true);
});
