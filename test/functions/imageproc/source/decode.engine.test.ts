import { gzipSync } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../../functions/imageproc/convert.ts';
import { storedPage } from '../../../../functions/imageproc/source/decode.ts';
import { lengthsInPixels } from '../../../../functions/imageproc/source/svg.ts';
import { imageproc } from '../../../../functions/imageproc/tool.ts';
import { orientedJpeg, QUARTERS, quarters } from '../../../fixtures/image.ts';
import { pixel } from '../../../helpers/pixels.ts';
import { useEngine } from '../../conversion.ts';
import { corners, expectClose, PICTURE, sizeOf, UPRIGHT } from '../picture.ts';

const { convert, convertOne, refusal } = useEngine(imageproc, createEngine);
const { topLeft, topRight, bottomLeft, bottomRight } = QUARTERS;

describe('orientation', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])('%i is rotated upright', async (orientation) => {
    const camera = await orientedJpeg(orientation, 80, 60);

    const made = await convertOne(camera, { format: 'png' });
    const resized = await convertOne(camera, { format: 'png', options: '-resize=40x' });

    expect(await sizeOf(made)).toMatchObject({ width: 80, height: 60 });
    expect(await sizeOf(resized)).toMatchObject({ width: 40, height: 30 });
    expectClose(await corners(made), UPRIGHT);
    expectClose(await corners(resized), UPRIGHT);
  });

  it('is applied before the first operator', async () => {
    const camera = await orientedJpeg(6, 80, 60);

    const flipped = await convertOne(camera, { format: 'png', options: '-flip' });
    const turned = await convertOne(camera, { format: 'png', options: '-rotate=90' });
    const cropped = await convertOne(camera, { format: 'png', options: '-crop=40x30+40+0' });

    expectClose(await corners(flipped), [bottomLeft, bottomRight, topLeft, topRight]);
    expectClose(await corners(turned), [bottomLeft, topLeft, bottomRight, topRight]);
    expectClose([await pixel(cropped, 20, 15)], [topRight]);
  });

  it.each(['png', 'avif', 'webp'] as const)('stays as stored with -auto-orient=no: %s', async (format) => {
    const camera = await orientedJpeg(6, 80, 60);

    const made = await convertOne(camera, { format, options: '-auto-orient=no' });

    expect(await sizeOf(made)).toMatchObject({ width: 60, height: 80 });
  });
});

describe('an SVG', () => {
  it('may declare entities as drawing programs do', async () => {
    const drawing = `<?xml version="1.0"?>
      <!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd" [
        <!-- Names -->
        <!ENTITY ns_svg "http://www.w3.org/2000/svg">
        <!ENTITY warm 'fill:#ff0000'>
        <!ATTLIST svg note CDATA #IMPLIED>
      ]>
      <svg xmlns="&ns_svg;" width="20" height="20"><rect width="20" height="20" style="&warm;"/></svg>`;

    const made = await convertOne(Buffer.from(drawing), { format: 'png' });

    expectClose([await pixel(made, 10, 10)], [[255, 0, 0]]);
  });

  it.each([
    ['', 96],
    ['-density=192', 192],
  ])('has 96 pixels to the inch, with "%s" %i', async (options, inch) => {
    const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="1in" height="72pt">
      <style>.low { fill: #0000ff; stroke-width: 0.25in; }</style>
      <rect width=".5in" height="12.7mm" fill="#ff0000"/>
      <path class="low" d="M 0 72 H 96" stroke="#00ff00"/></svg>`;

    const made = await convertOne(Buffer.from(drawing), { format: 'png', options });

    expect(await sizeOf(made)).toMatchObject({ width: inch, height: inch });
    const colors = await Promise.all(
      [
        [0.48, 0.48],
        [0.52, 0.2],
        [0.2, 0.64],
        [0.2, 0.86],
      ].map(([x = 0, y = 0]) => pixel(made, Math.floor(x * inch), Math.floor(y * inch))),
    );
    expect(colors.map(([red, green, , opacity]) => [red, green, opacity])).toEqual([
      [255, 0, 255],
      [0, 0, 0],
      [0, 255, 255],
      [0, 255, 255],
    ]);
  });

  it('keeps its text', () => {
    const svg = Buffer.from(
      '<svg width="2in"><text font-size="9pt">It is 2in wide, "3mm" high.</text></svg>',
    );

    expect(lengthsInPixels(svg).toString()).toBe(
      '<svg width="192"><text font-size="12">It is 2in wide, "3mm" high.</text></svg>',
    );
  });

  it('may be compressed with gzip', async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"/>';

    const made = await convertOne(gzipSync(svg), { format: 'png' });

    expect(await sizeOf(made)).toMatchObject({ width: 30, height: 20 });
  });

  it('is rejected if it is too large or damaged once it is decompressed', async () => {
    const svg = gzipSync(`<svg xmlns="http://www.w3.org/2000/svg">${' '.repeat(21e6)}</svg>`);

    const large = await refusal(svg, { format: 'png' });
    const cut = await refusal(svg.subarray(0, 500), { format: 'png' });

    expect([large.code, cut.code]).toEqual(['SOURCE_TOO_LARGE', 'CORRUPT_SOURCE']);
  });
});

describe('an AVIF sequence', () => {
  it('shows its first image', async () => {
    const sequence = await quarters(80, 60).avif().toBuffer();
    sequence.write('avis', 8, 'latin1');

    const made = await convertOne(sequence, { format: 'png' });

    expectClose(await corners(made), UPRIGHT, 20);
  });
});

describe('a file with several images', () => {
  it('begins with the one that it is about', () => {
    const pages = [0, 1, 2, 3].map((frame) => storedPage(frame, 2));

    expect(pages).toEqual([2, 0, 1, 3]);
  });
});

describe('hostile sources', () => {
  it.each([
    ['text', 'hello'],
    ['a page', '<html><body><svg></svg></body></html>'],
    ['an ImageMagick script', 'push graphic-context\nimage over 0,0 0,0 "/etc/passwd"'],
    ['a PDF', '%PDF-1.7'],
    [
      'an SVG with entities in entities',
      '<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><svg xmlns="http://www.w3.org/2000/svg"><text>&b;</text></svg>',
    ],
    [
      'an SVG with an entity that is a file',
      '<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]><svg xmlns="http://www.w3.org/2000/svg"><text>&a;</text></svg>',
    ],
    [
      'an SVG with a parameter entity',
      '<!DOCTYPE svg [<!ENTITY % a "x"> %a;]><svg xmlns="http://www.w3.org/2000/svg"/>',
    ],
    [
      'an SVG that its entities make huge',
      `<!DOCTYPE svg [<!ENTITY a "${'a'.repeat(100_000)}">]><svg xmlns="http://www.w3.org/2000/svg"><text>${'&a;'.repeat(300)}</text></svg>`,
    ],
    ['an SVG in UTF-16', '<?xml version="1.0" encoding="utf-16"?><svg xmlns="http://www.w3.org/2000/svg"/>'],
  ])('are rejected: %s', async (_, text) => {
    const refused = await refusal(Buffer.from(text), { format: 'png' });

    expect(refused).toMatchObject({ code: 'UNSUPPORTED_SOURCE' });
  });

  it('are drawn as far as they go if a photo is truncated', async () => {
    const whole = await quarters(400, 300).jpeg().toBuffer();

    for (const options of ['', '-flip -negate -flip -negate']) {
      const { files, warnings } = await convert(whole.subarray(0, whole.length * 0.6), {
        format: 'png',
        options,
      });
      const made = files[0]!;

      expect(warnings).toEqual(['The image is damaged. Only its readable part was converted.']);
      expect(await sizeOf(made)).toMatchObject({ width: 400, height: 300 });
      expectClose([await pixel(made, 100, 20)], [UPRIGHT[0]!], 12);
    }
  });

  it('have no warning if they are whole', async () => {
    const { warnings } = await convert(await quarters(400, 300).jpeg().toBuffer(), { format: 'png' });

    expect(warnings).toEqual([]);
  });

  it('are rejected if nothing of them can be read', async () => {
    const broken = await refusal(Buffer.concat([PICTURE.subarray(0, 40), Buffer.alloc(500)]), {
      format: 'jpg',
    });

    expect(broken.code).toBe('CORRUPT_SOURCE');
  });

  it('are checked against the pixel limit before they are decoded', async () => {
    const limits = { pixels: 4000 };

    const source = await refusal(PICTURE, { format: 'png', limits });
    const result = await refusal(await quarters(60, 60).png().toBuffer(), {
      format: 'png',
      limits,
      options: '-resize=100x',
    });
    const border = await refusal(await quarters(60, 60).png().toBuffer(), {
      format: 'png',
      limits,
      options: '-flip -border=10',
    });
    const long = await refusal(await quarters(2, 600).png().toBuffer(), {
      format: 'webp',
      options: '-resize=16384x16384',
    });

    expect(source).toMatchObject({
      code: 'SOURCE_TOO_LARGE',
      message: 'The source has 80x60 pixels. The maximum is 4000 pixels in total.',
    });
    expect(result).toMatchObject({ code: 'RESULT_TOO_LARGE' });
    expect(border).toMatchObject({ code: 'RESULT_TOO_LARGE' });
    expect(long).toMatchObject({ code: 'RESULT_TOO_LARGE' });
  });

  it('cannot read local files from an SVG', async () => {
    const href = new URL('../../../fixtures/image.ts', import.meta.url).href;
    const links = [href, '/etc/hostname', 'source', 'http://127.0.0.1:9/x.png'];
    const shown = links.map(
      (link) =>
        `<image href="${link}" width="50" height="50"/><use href="${link}#a"/><style>@import "${link}";</style>`,
    );
    const include =
      '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="/etc/hostname" parse="text"/>';
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="50" height="50">${shown.join('')}<text y="20">${include}</text></svg>`;

    const made = await convertOne(Buffer.from(svg), { format: 'png' });

    const { channels } = await sharp(made).stats();
    expect(channels.every(({ max }) => max === 0)).toBe(true);
  });

  it.each(['-resize=@/etc/passwd', '-background=url:http://x', '-crop=msl:x'])(
    'cannot be named by a value: %s',
    async (options) => {
      const refused = await refusal(PICTURE, { format: 'png', options });

      expect(refused).toMatchObject({ code: 'BAD_PARAMETER' });
    },
  );

  it.each(['-write=x.png', '-fx=u', '-script=x', '-set=a'])('cannot use the operator %s', async (options) => {
    const refused = await refusal(PICTURE, { format: 'png', options });

    expect(refused.message).toContain('is not allowed');
  });
});

describe('a valid but rare variant', () => {
  const lossless = async () => {
    const jpeg = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'teal' } })
      .jpeg()
      .toBuffer();
    jpeg[jpeg.indexOf(Buffer.from([0xff, 0xc0])) + 1] = 0xc7;
    return jpeg;
  };
  const bitmap = async (compression: number) => {
    const bmp = Buffer.alloc(80);
    bmp.write('BM');
    for (const [at, value] of [
      [2, 80],
      [10, 54],
      [14, 40],
      [18, 2],
      [22, 2],
      [30, compression],
      [34, 26],
    ] as const)
      bmp.writeUInt32LE(value, at);
    bmp.writeUInt16LE(1, 26);
    bmp.writeUInt16LE(24, 28);
    return bmp;
  };

  const texture = (compression: string) => {
    const dds = Buffer.alloc(160);
    dds.write('DDS ');
    for (const [at, value] of [
      [4, 124],
      [8, 0x1007],
      [12, 2],
      [16, 2],
      [76, 32],
      [80, compression.startsWith('D') ? 4 : 64],
      [88, 16],
      [92, 0xf00],
      [96, 0xf0],
      [100, 0xf],
      [108, 0x1000],
    ] as const)
      dds.writeUInt32LE(value, at);
    dds.write(compression, 84);
    return dds;
  };

  it.each([
    ['a lossless or hierarchical JPEG', lossless],
    ['a BMP with compression 5', () => bitmap(5)],
    ['a BMP with compression 6', () => bitmap(6)],
    ['a DDS with the compression DXT4', () => texture('DXT4')],
    ['a DDS with 16 bits per pixel', () => texture('\0\0\0\0')],
  ])('is named instead of being called damaged: %s', async (name, source) => {
    const error = await refusal(await source(), { format: 'png' });

    expect(error).toMatchObject({ code: 'UNSUPPORTED_SOURCE', message: expect.stringContaining(name) });
  });
});
