import { crc32 } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../../functions/imageproc/convert.ts';
import { TiffReader } from '../../../../functions/imageproc/source/tiff.ts';
import { imageproc } from '../../../../functions/imageproc/tool.ts';
import { QUARTERS, quarters } from '../../../fixtures/image.ts';
import { pixel } from '../../../helpers/pixels.ts';
import { useEngine } from '../../conversion.ts';
import { corners, expectClose, PICTURE, sizeOf, UPRIGHT } from '../picture.ts';

const { convertOne, refusal } = useEngine(imageproc, createEngine);

/** The quarters, 8 by 4 pixels, as rows of RGB from the top. */
const rows = await quarters(8, 4).raw().toBuffer();

/** Creates a bitmap: a header, a palette or masks, and the pixels. */
function bmp(
  bits: number,
  pixels: Buffer,
  { compression = 0, extra = Buffer.alloc(0), height = 4, colors = 0 } = {},
): Buffer {
  const head = Buffer.alloc(54);
  head.write('BM', 0);
  head.writeUInt32LE(54 + extra.length, 10);
  head.writeUInt32LE(40, 14);
  head.writeInt32LE(8, 18);
  head.writeInt32LE(height, 22);
  head.writeUInt16LE(1, 26);
  head.writeUInt16LE(bits, 28);
  head.writeUInt32LE(compression, 30);
  head.writeUInt32LE(colors, 46);
  return Buffer.concat([head, extra, pixels]);
}

/** Blue, green and red of each pixel from the bottom row up, or from the top row down. */
function bgr(topDown = false): Buffer {
  const order = topDown ? [0, 1, 2, 3] : [3, 2, 1, 0];
  return Buffer.concat(
    order.map((row) => Buffer.from(rows.subarray(row * 24, row * 24 + 24)).reverse()).map(mirror),
  );
}

/** Undoes the mirroring of a row that was reversed byte by byte. */
function mirror(row: Buffer): Buffer {
  const pixels = Array.from({ length: 8 }, (_, at) => row.subarray((7 - at) * 3, (7 - at) * 3 + 3));
  return Buffer.concat(pixels);
}

const palette = Buffer.from(UPRIGHT.flatMap(([red, green, blue]) => [blue, green, red, 0]));

describe('a bmp', () => {
  it.each([
    ['24 bits', bmp(24, bgr())],
    ['24 bits from the top down', bmp(24, bgr(true), { height: -4 })],
    [
      '4 bits',
      bmp(4, Buffer.from('2222333322223333' + '0000111100001111', 'hex'), { extra: palette, colors: 4 }),
    ],
    [
      '8 bits, run-length encoded',
      bmp(
        8,
        Buffer.from(
          '04020403' + '0000' + '04020403' + '0000' + '04000401' + '0000' + '04000401' + '0001',
          'hex',
        ),
        { compression: 1, extra: palette, colors: 4 },
      ),
    ],
    [
      '4 bits, run-length encoded',
      bmp(
        4,
        Buffer.from(
          '04220433' + '0000' + '04220433' + '0000' + '04000411' + '0000' + '04000411' + '0001',
          'hex',
        ),
        { compression: 2, extra: palette, colors: 4 },
      ),
    ],
  ])('of %s is read', async (_, source) => {
    const made = await convertOne(source, { format: 'png' });

    expect(await sizeOf(made)).toEqual({ width: 8, height: 4, format: 'png' });
    expectClose(await corners(made), UPRIGHT, 2);
  });

  it('of 16 bits with masks is read', async () => {
    const masks = Buffer.alloc(12);
    for (const [index, mask] of [0xf800, 0x7e0, 0x1f].entries()) masks.writeUInt32LE(mask, index * 4);
    const pixels = Buffer.alloc(64);
    for (let at = 0; at < 32; at += 1) pixels.writeUInt16LE(0xf81f, at * 2);

    const made = await convertOne(bmp(16, pixels, { compression: 3, extra: masks }), { format: 'png' });

    expect((await pixel(made, 3, 2)).slice(0, 3)).toEqual([255, 0, 255]);
  });

  it.each([
    ['without pixels', bmp(24, Buffer.alloc(0)), 'CORRUPT_SOURCE'],
    ['of an impossible size', bmp(24, bgr(), { height: 2_000_000_000 }), 'CORRUPT_SOURCE'],
    ['of 5 bits', bmp(5, bgr()), 'CORRUPT_SOURCE'],
  ])('%s is rejected', async (_, source, code) => {
    expect(await refusal(source, { format: 'png' })).toMatchObject({ code });
  });
});

describe('a pnm of text', () => {
  it.each([
    ['with a final newline', '\n'],
    ['without a final newline', ''],
  ])('%s is read', async (_, end) => {
    const source = Buffer.from(`P3 8 4 255\n${[...rows].join(' ')}${end}`);

    const made = await convertOne(source, { format: 'png' });

    expectClose(await corners(made), UPRIGHT, 2);
  });
});

/** Creates a Targa of 8 by 4 pixels with an image ID. `area` is the position in the file that its footer names. */
function targa(id: string, area?: number): Buffer {
  const head = Buffer.from([id.length, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 4, 0, 24, 0]);
  const footer = Buffer.alloc(26);
  footer.writeUInt32LE(area ?? 0, 0);
  footer.write('TRUEVISION-XFILE.', 8, 'latin1');
  return Buffer.concat([head, Buffer.from(id), bgr(), ...(area === undefined ? [] : [footer])]);
}

describe('a tga', () => {
  it.each([
    ['without an image ID', targa('')],
    ['with an image ID', targa('made by a scanner')],
    ['with an image ID and a footer', targa('made by a scanner', 18 + 17 + 96)],
  ])('%s is read', async (_, source) => {
    const made = await convertOne(source, { format: 'png' });

    expect(await sizeOf(made)).toEqual({ width: 8, height: 4, format: 'png' });
    expectClose(await corners(made), UPRIGHT, 2);
  });
});

/** Creates an icon with a PNG and a bitmap of 8 by 4 pixels with a mask. */
async function icon() {
  const png = await quarters(32, 32).png().toBuffer();
  const bitmap = Buffer.from(bmp(24, bgr()).subarray(14));
  bitmap.writeInt32LE(8, 8);
  const mask = Buffer.alloc(16);
  mask[0] = 0x80;
  const images = [Buffer.concat([bitmap, mask]), png];
  const head = Buffer.from('000001000200', 'hex');
  let offset = 6 + 32;
  const entries = images.map((data) => {
    const entry = Buffer.alloc(16);
    entry.writeUInt32LE(data.length, 8);
    entry.writeUInt32LE(offset, 12);
    offset += data.length;
    return entry;
  });
  return Buffer.concat([head, ...entries, ...images]);
}

describe('an ico', () => {
  it('is its largest image', async () => {
    const made = await convertOne(await icon(), { format: 'png' });

    expect(await sizeOf(made)).toMatchObject({ width: 32, height: 32 });
    expectClose(await corners(made), UPRIGHT, 2);
  });

  it('has its other images as frames, with the mask as opacity', async () => {
    const made = await convertOne(await icon(), { format: 'png', options: '-frame=1' });

    expect(await sizeOf(made)).toMatchObject({ width: 8, height: 4 });
    expect((await pixel(made, 0, 3))[3]).toBe(0);
    expect(await pixel(made, 1, 3)).toEqual([...QUARTERS.bottomLeft, 255]);
  });
});

describe('a frame that a source does not have', () => {
  it.each([
    ['an icon of two images', 2, 'frames 0 to 1', icon],
    ['a bitmap', 1, 'only frame 0', async () => bmp(24, bgr())],
  ] as const)('is reported for %s', async (_, frame, frames, source) => {
    const answer = await refusal(await source(), { format: 'png', options: `-frame=${frame}` });

    expect(answer).toMatchObject({
      code: 'PAGE_RANGE',
      message: `Parameter '-frame' is ${frame}, but the source has ${frames}.`,
    });
  });
});

describe('a source that no engine reads', () => {
  it.each([
    ['a JPEG XL image', 'ff0a7f00'],
    ['a JPEG XL image', '0000000c4a584c200d0a870a0000001466747970'],
    ['a WMF drawing', 'd7cdc69a00000000'],
    ['an EMF drawing', `01000000${'00'.repeat(36)}20454d46`],
    ['a PostScript document', '252150532d41646f62652d332e30'],
    ['a PDF document', '255044462d312e370a'],
  ])('is named: %s', async (name, head) => {
    const source = Buffer.concat([Buffer.from(head, 'hex'), Buffer.alloc(64)]);

    const answer = await refusal(source, { format: 'png' });

    expect(answer).toMatchObject({
      code: 'UNSUPPORTED_SOURCE',
      message: `The source is ${name}, which is not supported.`,
    });
  });
});

describe('a psd', () => {
  /** Creates a document of 8 by 4 pixels with only a merged image. */
  function psd({ mode = 3, depth = 8, planes }: { mode?: number; depth?: number; planes: Buffer[] }): Buffer {
    const head = Buffer.alloc(26);
    head.write('8BPS\0\x01', 0, 'latin1');
    head.writeUInt16BE(planes.length, 12);
    head.writeUInt32BE(4, 14);
    head.writeUInt32BE(8, 18);
    head.writeUInt16BE(depth, 22);
    head.writeUInt16BE(mode, 24);
    return Buffer.concat([head, Buffer.alloc(12), Buffer.alloc(2), ...planes]);
  }
  const plane = (channel: number) => Buffer.from(rows.filter((_, at) => at % 3 === channel));

  it('is its merged image', async () => {
    const made = await convertOne(psd({ planes: [plane(0), plane(1), plane(2)] }), { format: 'png' });

    expectClose(await corners(made), UPRIGHT, 2);
  });

  it('may be gray or CMYK', async () => {
    const gray = await convertOne(psd({ mode: 1, planes: [plane(0)] }), { format: 'png' });
    const full = Buffer.alloc(32, 255);
    const cmyk = await convertOne(psd({ mode: 4, planes: [plane(0), plane(1), plane(2), full] }), {
      format: 'png',
    });

    expectClose(
      await corners(gray),
      UPRIGHT.map(([red]) => [red, red, red]),
      2,
    );
    expectClose(await corners(cmyk), UPRIGHT, 2);
  });

  it('is rejected if pixels are missing', async () => {
    expect(await refusal(psd({ planes: [plane(0), plane(1)] }), { format: 'png' })).toMatchObject({
      code: 'CORRUPT_SOURCE',
    });
  });
});

describe('a heic', () => {
  /** Red on the left, blue on the right, 64 by 48 pixels. */
  const HEIC = Buffer.from(
    [
      'AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAaptZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAA',
      'AA5waXRtAAAAAAACAAAAEGlkYXQAAAAAAEAAMAAAADhpbG9jAQAAAERAAAIAAQAAAAAAAAHOAAEAAAAAAAAAhwACAAEAAAAAAAAA',
      'AQAAAAAAAAAIAAAAOGlpbmYAAAAAAAIAAAAVaW5mZQIAAAEAAQAAaHZjMQAAAAAVaW5mZQIAAAAAAgAAZ3JpZAAAAADVaXBycAAA',
      'ALNpcGNvAAAAc2h2Y0MBA3AAAAAAAAAAAAAe8AD8/fj4AAAPAyAAAQAYQAEMAf//A3AAAAMAkAAAAwAAAwAeugJAIQABACdCAQED',
      'cAAAAwCQAAADAAADAB6gIIEFlurkprmwIAAAAwAgAAADACEiAAEABkQBwXPAiQAAABRpc3BlAAAAAAAAAEAAAABAAAAAFGlzcGUA',
      'AAAAAAAAQAAAADAAAAAQcGl4aQAAAAADCAgIAAAAGmlwbWEAAAAAAAAAAgABAoECAAICA4QAAAAaaXJlZgAAAAAAAAAOZGltZwAC',
      'AAEAAQAAAI9tZGF0AAAAgygBrwngPfMi///yPzf//MnOy/vFxFe//8dbw7/U50//5BV6YSgwK4fJZOV/OjuvTe0nzRSLF6VXROUs',
      'fyV5YE0dz5ScPKu0k7mrR5Zm03rO8lbypFTqxOw5etvY1hyVJ2YWxFMxWkiECHU6E8t7/aXrC6g/pw39+aqK+UFz2Mj7hoeO',
    ].join(''),
    'base64',
  );

  it('is decoded', async () => {
    const made = await convertOne(HEIC, { format: 'jpg' });

    expect(await sizeOf(made)).toEqual({ width: 64, height: 48, format: 'jpeg' });
    expectClose(
      [await pixel(made, 10, 20), await pixel(made, 54, 20)],
      [
        [255, 0, 0],
        [0, 0, 255],
      ],
      16,
    );
  });

  it('is rejected if it is truncated', async () => {
    expect(await refusal(HEIC.subarray(0, 300), { format: 'png' })).toMatchObject({ code: 'CORRUPT_SOURCE' });
  });
});

/** Creates a TIFF of 8 by 8 pixels with the same samples. */
function plainTiff(samples: readonly [number, number, number]): Promise<Buffer> {
  const pixels = Buffer.from(Array.from({ length: 64 }, () => samples).flat());
  return sharp(pixels, { raw: { width: 8, height: 8, channels: 3 } })
    .tiff({ compression: 'none' })
    .toBuffer();
}

describe('a TIFF with unusual samples', () => {
  it('in 8-bit Lab has the right colors', async () => {
    // sRGB red is 53, 80, 67 in Lab.
    const tiff = await plainTiff([136, 80, 67]);
    setTag(tiff, 262, 8);

    const made = await convertOne(tiff, { format: 'png' });

    expectClose([await pixel(made, 4, 4)], [[255, 0, 0]], 6);
  });

  it.for([
    // a and b are signed.
    { photometric: 8, bits: 8, samples: [136, 80, 67] },
    { photometric: 8, bits: 16, samples: [0.53 * 0xffff, 80 * 256, 67 * 256] },
  ] as const)(
    'in $bits-bit Lab, photometric interpretation $photometric, has its opacity',
    async ({ photometric, bits, samples }) => {
      const [opaque, space] = bits === 16 ? [0xffff, 'rgb16'] : [0xff, 'srgb'];
      const content = Array.from({ length: 64 }, (_, at) => [...samples, at < 32 ? opaque : 0]).flat();
      const pixels = bits === 16 ? Uint16Array.from(content) : Uint8Array.from(content);
      const tiff = await sharp(pixels, { raw: { width: 8, height: 8, channels: 4 } })
        .toColorspace(space)
        .tiff({ compression: 'none', predictor: 'none' })
        .toBuffer();
      setTag(tiff, 262, photometric);

      const made = await convertOne(tiff, { format: 'png' });

      expectClose(
        [await pixel(made, 4, 1), await pixel(made, 4, 6)],
        [
          [255, 0, 0, 255],
          [255, 0, 0, 0],
        ],
        6,
      );
    },
  );

  it('in YCbCr without JPEG has the right colors', async () => {
    // Blue is 29, 255, 107 in BT.601.
    const tiff = await plainTiff([29, 255, 107]);
    setTag(tiff, 262, 6);
    // Colors in full resolution, in place of the format of samples.
    const { position } = new TiffReader(tiff).directory().entries.find(({ tag }) => tag === 339)!;
    for (const [index, value] of [530, 3, 2, 0, 1, 1].entries())
      tiff.writeUInt16LE(value, position + 2 * index);

    const made = await convertOne(tiff, { format: 'png' });

    expectClose([await pixel(made, 4, 4)], [[0, 0, 255]], 3);
  });

  it.each([
    ['2x1', 2, 1],
    ['2x2', 2, 2],
    ['4x2', 4, 2],
  ])('in YCbCr with a color for each %s pixels has the right colors', async (_, across, down) => {
    const tiff = await plainTiff([0, 0, 0]);
    setTag(tiff, 262, 6);
    const { entries } = new TiffReader(tiff).directory();
    const positionOf = (tag: number) => entries.find((entry) => entry.tag === tag)!.position;
    const at = positionOf(339);
    for (const [index, value] of [530, 3, 2, 0, across, down].entries())
      tiff.writeUInt16LE(value, at + 2 * index);
    // Red left, blue right: the brightness of all pixels of a block, then its color.
    const [red, blue] = [
      [76, 85, 255],
      [29, 255, 107],
    ] as const;
    const blocks = Array.from({ length: 64 / across / down }, (_, index) => {
      const [y, cb, cr] = (index * across) % 8 < 4 ? red : blue;
      return [...Array<number>(across * down).fill(y), cb, cr];
    });
    Buffer.from(blocks.flat()).copy(tiff, tiff.readUInt32LE(positionOf(273) + 8));

    const made = await convertOne(tiff, { format: 'png' });

    const colors = [await pixel(made, 1, 4), await pixel(made, 6, 4)].map((color) => color.slice(0, 3));
    expectClose(
      colors,
      [
        [255, 0, 0],
        [0, 0, 255],
      ],
      3,
    );
  });

  it('with signed numbers has its black at the lowest one', async () => {
    const signed = Uint16Array.from({ length: 64 }, (_, at) => (at < 32 ? 0x8000 : 0x7fff));
    const tiff = await sharp(signed, { raw: { width: 8, height: 8, channels: 1 } })
      .toColorspace('grey16')
      .tiff({ compression: 'none' })
      .toBuffer();
    setTag(tiff, 339, 2);

    const made = await convertOne(tiff, { format: 'png' });

    expect((await pixel(made, 4, 1))[0]).toBe(0);
    expect((await pixel(made, 4, 6))[0]).toBe(255);
  });
});

describe('a TIFF', () => {
  it('keeps its opacity and loses further channels', async () => {
    const red = sharp({
      create: { width: 8, height: 8, channels: 4, background: { r: 255, g: 0, b: 0, alpha: 0.5 } },
    });
    const ink = await sharp(Buffer.alloc(64, 90), { raw: { width: 8, height: 8, channels: 1 } })
      .toColorspace('b-w')
      .png()
      .toBuffer();
    const tiff = await red.joinChannel(ink).tiff({ compression: 'none' }).toBuffer();

    const made = await convertOne(tiff, { format: 'png' });

    expect((await sharp(tiff).metadata()).channels).toBe(5);
    expectClose([await pixel(made, 4, 4)], [[255, 0, 0, 128]], 3);
  });

  it('with 32 bits per sample keeps its tones', async () => {
    const tones = Uint32Array.from([0, 64, 128, 255, 32, 16], (value) => value * 2 ** 24);
    const tiff = withDirectory(Buffer.from(tones.buffer), { width: 2, height: 1, bits: 32 });

    const made = await convertOne(tiff, { format: 'png' });

    const pixels = [await pixel(made, 0, 0), await pixel(made, 1, 0)];
    expectClose(
      pixels,
      [
        [0, 64, 128],
        [255, 32, 16],
      ],
      2,
    );
  });

  it.each(['LZMA', 'ZSTD', 'WebP', 'JPEG'])('with %s compression is read', async (compression) => {
    const tiff = await convertOne(PICTURE, { format: 'tiff', options: `-compress=${compression}` });

    const made = await convertOne(tiff, { format: 'png' });

    expectClose(await corners(made), UPRIGHT, 12);
  });

  it('with an unknown compression is not called damaged', async () => {
    const tiff = await quarters(80, 60).tiff({ compression: 'none' }).toBuffer();
    setTag(tiff, 259, 34_712);

    expect(await refusal(tiff, { format: 'png' })).toMatchObject({
      code: 'UNSUPPORTED_SOURCE',
      message: 'The source is a TIFF with compression 34712, which is not supported.',
    });
  });

  it('with colors in ICC Lab is rejected, because they would be wrong', async () => {
    const tiff = await quarters(80, 60).tiff({ compression: 'none' }).toBuffer();
    setTag(tiff, 262, 9);

    expect(await refusal(tiff, { format: 'png' })).toMatchObject({ code: 'UNSUPPORTED_SOURCE' });
  });
});

/** Writes an uncompressed TIFF of RGB samples. */
function withDirectory(
  samples: Buffer,
  { width, height, bits }: { readonly width: number; readonly height: number; readonly bits: number },
): Buffer {
  const [SHORT, LONG] = [3, 4];
  const tags = 9;
  const widths = 8 + 2 + tags * 12 + 4;
  const start = widths + 6;
  const entries = [
    [256, SHORT, 1, width],
    [257, SHORT, 1, height],
    [258, SHORT, 3, widths],
    [259, SHORT, 1, 1],
    [262, SHORT, 1, 2],
    [273, LONG, 1, start],
    [277, SHORT, 1, 3],
    [278, SHORT, 1, height],
    [279, LONG, 1, samples.length],
  ] as const;
  const head = Buffer.alloc(start);
  head.write('II*\0\b\0\0\0', 'latin1');
  head.writeUInt16LE(tags, 8);
  for (const [index, [tag, type, count, value]] of entries.entries()) {
    const at = 10 + index * 12;
    head.writeUInt16LE(tag, at);
    head.writeUInt16LE(type, at + 2);
    head.writeUInt32LE(count, at + 4);
    head.writeUInt32LE(value, at + 8);
  }
  for (let channel = 0; channel < 3; channel += 1) head.writeUInt16LE(bits, widths + 2 * channel);
  return Buffer.concat([head, samples]);
}

/** Changes the value of a tag that has one 16-bit integer or several equal ones. */
function setTag(tiff: Buffer, wanted: number, value: number): void {
  const directory = tiff.readUInt32LE(4);
  for (let index = 0; index < tiff.readUInt16LE(directory); index += 1) {
    const at = directory + 2 + index * 12;
    if (tiff.readUInt16LE(at) === wanted) tiff.writeUInt16LE(value, at + 8);
  }
}

/** Adds a chunk after the header of a PNG. */
function withChunk(png: Buffer, type: string, data: Buffer): Buffer {
  const chunk = Buffer.alloc(data.length + 12);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(type, 4);
  data.copy(chunk, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, data.length + 8)), data.length + 8);
  return Buffer.concat([png.subarray(0, 33), chunk, png.subarray(33)]);
}

describe('EXIF data in a text chunk of a png', () => {
  it('rotates the image', async () => {
    const exif = Buffer.from('4578696600004d4d002a00000008000101120003000000010006000000000000', 'hex');
    const text = `Raw profile type exif\0\nexif\n${String(exif.length).padStart(8)}\n${exif.toString('hex')}\n`;
    const png = await quarters(80, 60).png().toBuffer();

    const made = await convertOne(withChunk(png, 'tEXt', Buffer.from(text, 'latin1')), { format: 'png' });

    const [topLeft, topRight, bottomLeft, bottomRight] = UPRIGHT;
    expect(await sizeOf(made)).toMatchObject({ width: 60, height: 80 });
    expectClose(await corners(made), [bottomLeft!, topLeft!, bottomRight!, topRight!], 3);
  });
});

describe('the gamma of a png', () => {
  it.each([
    ['linear', 100_000, 156],
    ['of sRGB', 45_455, 85],
  ])('is applied if it is linear: %s', async (_, gamma, shown) => {
    const gray = { r: 85, g: 85, b: 85 };
    const png = await sharp({ create: { width: 4, height: 4, channels: 3, background: gray } })
      .png()
      .toBuffer();
    const value = Buffer.alloc(4);
    value.writeUInt32BE(gamma);

    const made = await convertOne(withChunk(png, 'gAMA', value), { format: 'png' });

    expectClose([await pixel(made, 2, 2)], [[shown, shown, shown]], 1);
  });
});
