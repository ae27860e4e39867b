import { crc32, deflateSync } from 'node:zlib';
import { pack } from './office/archive.ts';

/** A small source that wants to become a large one. */
export interface Bomb {
  readonly name: string;
  readonly app: string;
  readonly options?: Readonly<Record<string, string>>;
  bytes(): Promise<Buffer> | Buffer;
}

const png = (width: number, height: number, chunks: readonly Buffer[]) => {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', head),
    ...chunks,
    chunk('IEND', Buffer.alloc(0)),
  ]);
};

function chunk(type: string, content: Buffer): Buffer {
  const whole = Buffer.concat([Buffer.alloc(4), Buffer.from(type), content, Buffer.alloc(4)]);
  whole.writeUInt32BE(content.length, 0);
  whole.writeUInt32BE(crc32(whole.subarray(4, -4)), whole.length - 4);
  return whole;
}

const zeros = (megabytes: number) => deflateSync(Buffer.alloc(megabytes * 1e6), { level: 9 });

function gif(width: number, height: number, frames: number): Buffer {
  const screen = Buffer.alloc(7);
  screen.writeUInt16LE(width, 0);
  screen.writeUInt16LE(height, 2);
  screen[4] = 0x80;
  const frame = Buffer.alloc(10);
  frame[0] = 0x2c;
  frame.writeUInt16LE(width, 5);
  frame.writeUInt16LE(height, 7);
  const pixels = Buffer.from([2, 2, 0x4c, 1, 0]);
  return Buffer.concat([
    Buffer.from('GIF89a'),
    screen,
    Buffer.from([0, 0, 0, 255, 255, 255]),
    ...Array.from({ length: frames }, () => Buffer.concat([frame, pixels])),
    Buffer.from([0x3b]),
  ]);
}

/** A JPEG that says it has 65500 × 65500 pixels, and ends. */
const JPEG = Buffer.from('ffd8ffc0001108ffdcffdc03012200021101031101ffda000c03010002110311003f00ffd9', 'hex');
/** A lossless WebP that says it has 16384 × 16384 pixels. */
const WEBP = Buffer.from('524946461a000000574542505650384c0d0000002fffffff0f0710fd8ffe0722a2ff0100', 'hex');
const BMP = Buffer.from(
  '424d3600000000000000360000002800000060ea000060ea0000010018000000000000000000000000000000000000000000000000000000',
  'hex',
);

function tiff(width: number, height: number): Buffer {
  const tags = [
    [256, 4, 1, width],
    [257, 4, 1, height],
    [258, 3, 1, 8],
    [259, 3, 1, 1],
    [262, 3, 1, 1],
    [273, 4, 1, 8],
    [278, 4, 1, height],
    [279, 4, 1, 8],
  ];
  const bytes = Buffer.alloc(8 + 2 + 12 * tags.length + 4 + 8);
  bytes.write('II*\0');
  bytes.writeUInt32LE(8, 4);
  bytes.writeUInt16LE(tags.length, 8);
  for (const [index, [tag, type, count, value]] of tags.entries()) {
    const at = 10 + 12 * index;
    bytes.writeUInt16LE(tag!, at);
    bytes.writeUInt16LE(type!, at + 2);
    bytes.writeUInt32LE(count!, at + 4);
    bytes.writeUInt32LE(value!, at + 8);
  }
  return bytes;
}

const svg = (inner: string, size = '100') =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="${size}" height="${size}">${inner}</svg>`,
  );
const nested = (levels: number, each: (level: number) => string) =>
  Array.from({ length: levels }, (_, level) => each(level)).join('');

type Part = string | { readonly head: string; readonly stream: Buffer };

/** A PDF of one page, whose parts from the third object on are given; the page is the third. */
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

/** Deflated again and again: a few hundred bytes that stand for gigabytes. */
function deflatedAgain(times: number): Buffer {
  let bytes: Buffer = zeros(200);
  for (let time = 1; time < times; time++) bytes = deflateSync(bytes, { level: 9 });
  return bytes;
}

const PDFS: Readonly<Record<string, () => readonly Part[]>> = {
  'an endless page': () => [page('', '0 0 14400000 14400000'), contents('')],
  'a page of negative and endless size': () => [page('', '-1e30 -1e30 1e30 1e30'), contents('')],
  'units of kilometres': () => [page('').replace('/MediaBox', '/UserUnit 1000000/MediaBox'), contents('')],
  'contents of gigabytes': () => [page(), { head: '/Filter/FlateDecode', stream: zeros(500) }],
  'contents deflated three times': () => [
    page(),
    { head: '/Filter[/FlateDecode/FlateDecode/FlateDecode]', stream: deflatedAgain(3) },
  ],
  'a picture of 60000 × 60000': () => [
    page('/XObject<</I 5 0 R>>'),
    contents('300 0 0 300 0 0 cm /I Do'),
    {
      head: '/Type/XObject/Subtype/Image/Width 60000/Height 60000/BitsPerComponent 8/ColorSpace/DeviceGray/Filter/FlateDecode',
      stream: zeros(500),
    },
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

const docx = (parts: Readonly<Record<string, string | Buffer>>) =>
  pack({
    '[Content_Types].xml':
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
    'word/document.xml':
      '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"/>',
    ...parts,
  });

/** Pixels, pages, layers and archives that blow up. */
export const BOMBS: readonly Bomb[] = [
  ...Object.entries<() => Buffer>({
    'png of 3.6 billion pixels': () => png(60_000, 60_000, [chunk('IDAT', zeros(10))]),
    'png of 2 billion columns': () => png(2_147_483_647, 1, [chunk('IDAT', zeros(1))]),
    'png that inflates to more': () => png(100, 100, [chunk('IDAT', zeros(500))]),
    'png with a text of a gigabyte': () =>
      png(9, 9, [chunk('zTXt', Buffer.concat([Buffer.from('a\0\0'), zeros(500)])), chunk('IDAT', zeros(1))]),
    'png with a profile of a gigabyte': () =>
      png(9, 9, [chunk('iCCP', Buffer.concat([Buffer.from('a\0\0'), zeros(500)])), chunk('IDAT', zeros(1))]),
    'jpeg of 4 billion pixels': () => JPEG,
    'gif of 4 billion pixels': () => gif(65_535, 65_535, 1),
    'gif of 20000 frames': () => gif(9000, 9000, 20_000),
    'webp of 268 million pixels': () => WEBP,
    'bmp of 3.6 billion pixels': () => BMP,
    'tiff of 4 billion × 4 billion': () => tiff(4_000_000_000, 4_000_000_000),
    'svg as wide as a country': () => svg('<rect width="1" height="1"/>', '1000000000'),
    'svg of a billion uses': () =>
      svg(
        `<g id="a0"><rect width="1" height="1"/></g>${nested(12, (level) => `<g id="a${level + 1}">${`<use xlink:href="#a${level}"/>`.repeat(10)}</g>`)}`,
      ),
    'svg of a billion entities': () =>
      Buffer.from(
        `<!DOCTYPE svg [<!ENTITY a0 "x">${nested(12, (level) => `<!ENTITY a${level + 1} "${`&a${level};`.repeat(10)}">`)}]><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text>&a12;</text></svg>`,
      ),
    'svg of filters': () =>
      svg(
        `<filter id="f">${'<feTurbulence numOctaves="99"/><feGaussianBlur stdDeviation="900"/>'.repeat(200)}</filter><rect width="9999" height="9999" filter="url(#f)"/>`,
        '9999',
      ),
    'svg a hundred thousand deep': () => svg(`${'<g>'.repeat(100_000)}${'</g>'.repeat(100_000)}`),
  }).map(([name, bytes]) => ({ name, app: 'imageproc', bytes })),
  {
    name: 'picture made huge',
    app: 'imageproc',
    options: { '-resize': '99999x99999!' },
    bytes: () => png(9, 9, [chunk('IDAT', deflateSync(Buffer.alloc(9 * 28)))]),
  },
  ...Object.entries(PDFS).map(([name, parts]) => ({
    name: `pdf with ${name}`,
    app: 'pdftools',
    bytes: () => pdf(parts()),
  })),
  {
    name: 'pdf at a resolution too fine',
    app: 'pdftools',
    options: { '-r': '1200' },
    bytes: () => pdf([page('', '0 0 3000 3000'), contents('')]),
  },
  {
    name: 'zip of a gigabyte',
    app: 'doc2any',
    bytes: () =>
      docx(
        Object.fromEntries(
          Array.from({ length: 10 }, (_, index) => [`word/${index}.xml`, Buffer.alloc(100e6)]),
        ),
      ),
  },
  {
    name: 'zip of 20000 parts',
    app: 'doc2any',
    bytes: () =>
      docx(Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`word/${index}.xml`, '']))),
  },
  {
    name: 'zip of a billion entities',
    app: 'doc2any',
    bytes: () =>
      docx({
        'word/document.xml': `<!DOCTYPE x [<!ENTITY a0 "x">${nested(12, (level) => `<!ENTITY a${level + 1} "${`&a${level};`.repeat(10)}">`)}]><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>&a12;</w:t></w:r></w:p></w:body></w:document>`,
      }),
  },
  {
    name: 'docx a hundred thousand deep',
    app: 'doc2any',
    bytes: () =>
      docx({
        'word/document.xml': `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${'<w:tbl><w:tr><w:tc>'.repeat(30_000)}</w:body></w:document>`,
      }),
  },
  {
    name: 'rtf a million deep',
    app: 'doc2any',
    bytes: () => Buffer.from(`{\\rtf1 ${'{'.repeat(1_000_000)}`),
  },
];
