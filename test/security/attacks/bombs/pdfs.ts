import { deflateSync } from 'node:zlib';
import { type Bomb, zeros } from './bomb.ts';

type Part = string | { readonly head: string; readonly stream: Buffer };

/** A PDF of one page with the given objects, starting with object 3, which is the page. */
function pdf(parts: readonly Part[]): Buffer {
  const pieces: Buffer[] = [Buffer.from('%PDF-1.7\n')];
  const places: number[] = [];
  const objects: readonly Part[] = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    ...parts,
  ];
  const length = () => pieces.reduce((sum, piece) => sum + piece.length, 0);
  for (const [index, part] of objects.entries()) {
    places.push(length());
    pieces.push(Buffer.from(`${index + 1} 0 obj\n`));
    if (typeof part === 'string') pieces.push(Buffer.from(part));
    else
      pieces.push(
        Buffer.from(`<<${part.head}/Length ${part.stream.length}>>stream\n`),
        part.stream,
        Buffer.from('\nendstream'),
      );
    pieces.push(Buffer.from('\nendobj\n'));
  }
  const start = length();
  const table = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('');
  pieces.push(
    Buffer.from(
      `xref\n0 ${places.length + 1}\n0000000000 65535 f \n${table}trailer<</Size ${places.length + 1}/Root 1 0 R>>\nstartxref\n${start}\n%%EOF`,
    ),
  );
  return Buffer.concat(pieces);
}

const page = (more = '', box = '0 0 300 300') =>
  `<</Type/Page/Parent 2 0 R/MediaBox[${box}]/Contents 4 0 R/Resources<<${more}>>>>`;
const contents = (text: string): Part => ({ head: '', stream: Buffer.from(text) });

/** Deflated repeatedly: a few hundred bytes that expand to gigabytes. */
function deflatedAgain(times: number): Buffer {
  let bytes: Buffer = zeros(200);
  for (let time = 1; time < times; time++) bytes = deflateSync(bytes, { level: 9 });
  return bytes;
}

/** A page that is filled by a gray image with this many pixels. */
export function picturePdf(width: number, height: number, pixels: Buffer): Buffer {
  const head = `/Type/XObject/Subtype/Image/Width ${width}/Height ${height}/BitsPerComponent 8/ColorSpace/DeviceGray`;
  const picture = { head: `${head}/Filter/FlateDecode`, stream: pixels };
  return pdf([page('/XObject<</I 5 0 R>>'), contents('300 0 0 300 0 0 cm /I Do'), picture]);
}

const PDFS: Readonly<Record<string, () => readonly Part[]>> = {
  'an endless page': () => [page('', '0 0 14400000 14400000'), contents('')],
  'a page of negative and endless size': () => [page('', '-1e30 -1e30 1e30 1e30'), contents('')],
  'units of kilometers': () => [page('').replace('/MediaBox', '/UserUnit 1000000/MediaBox'), contents('')],
  'contents of gigabytes': () => [page(), { head: '/Filter/FlateDecode', stream: zeros(500) }],
  'contents deflated three times': () => [
    page(),
    { head: '/Filter[/FlateDecode/FlateDecode/FlateDecode]', stream: deflatedAgain(3) },
  ],
  'a form in itself': () => [
    page('/XObject<</F 5 0 R>>'),
    contents('/F Do'),
    {
      head: '/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</F 5 0 R>>>>',
      stream: Buffer.from('/F Do /F Do'),
    },
  ],
  'forms in forms, a billion': () => [
    page('/XObject<</F 5 0 R>>'),
    contents('/F Do'),
    ...Array.from({ length: 12 }, (_, level) => ({
      head: `/Type/XObject/Subtype/Form/BBox[0 0 300 300]/Resources<</XObject<</F ${level + 6} 0 R>>>>`,
      stream: Buffer.from('/F Do '.repeat(10)),
    })),
    { head: '/Type/XObject/Subtype/Form/BBox[0 0 300 300]', stream: Buffer.from('0 0 9 9 re f') },
  ],
  'a pattern of tiny tiles': () => [
    page('/Pattern<</P 5 0 R>>', '0 0 14000 14000'),
    contents('/Pattern cs /P scn 0 0 14000 14000 re f'),
    {
      head: '/Type/Pattern/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 1 1]/XStep .001/YStep .001/Resources<<>>',
      stream: Buffer.from('0 0 1 1 re f'),
    },
  ],
  'a graphics state a million deep': () => [
    page(),
    { head: '/Filter/FlateDecode', stream: deflateSync(Buffer.alloc(5_000_000, 'q ')) },
  ],
  'arrays in arrays': () => [page(), contents(`${'['.repeat(200_000)}`)],
  'pages in pages': () => ['<</Type/Pages/Kids[2 0 R 2 0 R]/Count 1000000000>>', contents('')],
};

/** PDF files whose pages, contents or forms expand enormously. */
export const PDF_BOMBS: readonly Bomb[] = [
  ...Object.entries(PDFS).map(([name, parts]) => ({
    name: `pdf with ${name}`,
    app: 'pdftools',
    bytes: () => pdf(parts()),
  })),
  {
    name: 'pdf with a picture of 60000 × 60000',
    app: 'pdftools',
    bytes: () => picturePdf(60_000, 60_000, zeros(500)),
  },
  {
    name: 'pdf at a resolution too fine',
    app: 'pdftools',
    options: { '-r': '1200' },
    bytes: () => pdf([page('', '0 0 3000 3000'), contents('')]),
  },
];
