import { crc32, deflateSync } from 'node:zlib';
import { type Bomb, nested, zeros } from './bomb.ts';

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

/** A JPEG that claims 65500 × 65500 pixels, and ends. */
const JPEG = Buffer.from('ffd8ffc0001108ffdcffdc03012200021101031101ffda000c03010002110311003f00ffd9', 'hex');
/** A lossless WebP that claims 16384 × 16384 pixels. */
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
/** Images that claim to be huge, or expand to be. */
export const IMAGE_BOMBS: readonly Bomb[] = [
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
];
