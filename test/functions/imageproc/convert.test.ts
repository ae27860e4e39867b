import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../functions/imageproc/convert.ts';
import { imageproc } from '../../../functions/imageproc/tool.ts';
import { animation, disc, orientedJpeg, QUARTERS, quarters } from '../../fixtures/image.ts';
import { pixel } from '../../likeness.ts';
import { IMAGE_BOMBS } from '../../security/bombs/images.ts';
import { useEngine } from '../conversion.ts';

const { convertOne, refusal } = useEngine(imageproc, createEngine);
const picture = await quarters(80, 60).png().toBuffer();

async function sizeOf(image: Buffer) {
  const { width, height, format } = await sharp(image).metadata();
  return { width, height, format };
}

/** Colours in the middle of the four quarters, in reading order. */
async function corners(image: Buffer) {
  const { width, height } = await sharp(image).metadata();
  const [left, right, top, bottom] = [width / 4, (width * 3) / 4, height / 4, (height * 3) / 4].map(
    Math.floor,
  ) as [number, number, number, number];
  const places = [
    [left, top],
    [right, top],
    [left, bottom],
    [right, bottom],
  ] as const;
  return Promise.all(places.map(async ([x, y]) => (await pixel(image, x, y)).slice(0, 3)));
}

function expectClose(
  seen: readonly (readonly number[])[],
  wanted: readonly (readonly number[])[],
  within = 12,
): void {
  for (const [place, colour] of wanted.entries()) {
    for (const [channel, value] of colour.entries()) {
      expect(Math.abs(seen[place]![channel]! - value), `place ${place}, channel ${channel}`).toBeLessThan(
        within,
      );
    }
  }
}

const { topLeft, topRight, bottomLeft, bottomRight } = QUARTERS;
const UPRIGHT = [topLeft, topRight, bottomLeft, bottomRight];

describe('formats', () => {
  it.each(['jpg', 'png', 'webp', 'avif', 'gif', 'tiff'] as const)('reads and writes %s', async (format) => {
    const made = await convertOne(picture, { format, options: '-quality=95' });
    const again = await convertOne(made, { format: 'png' });

    expect(await sizeOf(again)).toEqual({ width: 80, height: 60, format: 'png' });
    expectClose(await corners(again), UPRIGHT, 25);
  });

  it('draws an svg, larger with -density and sharp when enlarged', async () => {
    const svg = Buffer.from(
      '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="100" height="50"><rect width="50" height="50" fill="#f00"/></svg>',
    );

    const own = await convertOne(svg, { format: 'jpg' });
    const dense = await convertOne(svg, { format: 'png', options: '-density=192' });
    const large = await convertOne(svg, { format: 'png', options: '-resize=1000x500!' });

    expect(await sizeOf(own)).toEqual({ width: 100, height: 50, format: 'jpeg' });
    expect(await sizeOf(dense)).toMatchObject({ width: 200, height: 100 });
    expect(await pixel(large, 497, 250)).toEqual([255, 0, 0, 255]);
    expect((await pixel(large, 503, 250))[3]).toBe(0);
  });

  it('turns CMYK and 16 bits into plain sRGB', async () => {
    const cmyk = await quarters(80, 60).toColourspace('cmyk').jpeg({ quality: 100 }).toBuffer();
    const deep = await quarters(80, 60).toColourspace('rgb16').png().toBuffer();

    const fromCmyk = await convertOne(cmyk, { format: 'jpg' });
    const fromDeep = await convertOne(deep, { format: 'jpg', options: '-rotate=180' });

    expect(await sharp(fromCmyk).metadata()).toMatchObject({ space: 'srgb', channels: 3, depth: 'uchar' });
    expectClose(await corners(fromCmyk), UPRIGHT, 100);
    expectClose(await corners(fromDeep), UPRIGHT.toReversed());
  });

  it('writes CMYK where the format has it', async () => {
    const made = await convertOne(picture, { format: 'jpg', options: '-colorspace=CMYK' });
    const refused = await refusal(picture, { format: 'png', options: '-colorspace=CMYK' });

    expect(await sharp(made).metadata()).toMatchObject({ space: 'cmyk', channels: 4 });
    expect(refused).toMatchObject({ code: 'BAD_PARAMETER' });
  });

  it('leaves metadata out', async () => {
    const tagged = await quarters(80, 60)
      .withExif({ IFD0: { Copyright: 'somebody' } })
      .jpeg()
      .toBuffer();

    const made = await convertOne(tagged, { format: 'jpg' });

    const { exif, icc, xmp, iptc } = await sharp(made).metadata();
    expect([exif, icc, xmp, iptc]).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('is progressive with -interlace, tagged with -density, smaller with a lower -quality', async () => {
    const plain = await convertOne(picture, { format: 'jpg' });
    const made = await convertOne(picture, {
      format: 'jpg',
      options: '-interlace=Plane -density=300',
    });
    const coarse = await convertOne(picture, { format: 'jpg', options: '-quality=10' });

    expect(await sharp(made).metadata()).toMatchObject({ isProgressive: true, density: 300 });
    expect(await sharp(plain).metadata()).toMatchObject({ isProgressive: false });
    expect(coarse.length).toBeLessThan(plain.length);
  });
});

describe('orientation', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])('%i comes out upright', async (orientation) => {
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

  it('stays as stored where the caller says so', async () => {
    const camera = await orientedJpeg(6, 80, 60);

    const made = await convertOne(camera, { format: 'png', options: '-auto-orient=no' });

    expect(await sizeOf(made)).toMatchObject({ width: 60, height: 80 });
  });
});

describe('transparency', () => {
  it('is white in a jpg, or the background', async () => {
    const black = await disc(60);

    const white = await convertOne(black, { format: 'jpg' });
    const lime = await convertOne(black, { format: 'jpg', options: '-background=lime' });

    expectClose(
      [await pixel(white, 2, 2), await pixel(white, 30, 30)],
      [
        [255, 255, 255],
        [0, 0, 0],
      ],
    );
    expectClose([await pixel(lime, 2, 2)], [[0, 255, 0]]);
  });

  it('stays in a png, also through operators', async () => {
    const made = await convertOne(await disc(60), { format: 'png', options: '-negate -resize=200%' });

    expect((await pixel(made, 2, 2))[3]).toBe(0);
    expect(await pixel(made, 60, 60)).toEqual([255, 255, 255, 255]);
  });

  it('of a grey image survives operators', async () => {
    const grey = await sharp(await disc(60))
      .toColourspace('b-w')
      .png()
      .toBuffer();

    const made = await convertOne(grey, { format: 'png', options: '-flip -flop' });

    expect((await pixel(made, 2, 2))[3]).toBe(0);
    expect(await pixel(made, 30, 30)).toEqual([0, 0, 0, 255]);
  });

  it.each([
    ['-flatten', 255],
    ['-alpha=remove', 255],
    ['-alpha=off', 0],
  ])('goes with %s', async (options, shade) => {
    const made = await convertOne(await disc(60), { format: 'png', options });

    expect(await pixel(made, 2, 2)).toEqual([shade, shade, shade, 255]);
  });
});

describe('operators', () => {
  it.each([
    ['-resize=40x40', 40, 30],
    ['-resize=40x40!', 40, 40],
    ['-resize=40x40\\!', 40, 40],
    ['-resize=200x200>', 80, 60],
    ['-resize=200x200<', 200, 150],
    ['-resize=40x40^', 53, 40],
    ['-resize=50%', 40, 30],
    ['-resize=200%>', 160, 120],
    ['-resize=300@<', 20, 15],
    ['-resize=1200@', 40, 30],
    ['-resize=40', 40, 30],
    ['-resize=x30', 40, 30],
    ['-thumbnail=20x20', 20, 15],
    ['-sample=160x120', 160, 120],
    ['-scale=25%', 20, 15],
    ['-crop=30x20+10+5', 30, 20],
    ['-crop=100x100+60+40', 20, 20],
    ['-crop=50%x50%', 40, 30],
    ['-extent=100x100', 100, 100],
    ['-border=10x5', 100, 70],
    ['-border=10%', 96, 72],
    ['-shave=10x5', 60, 50],
    ['-rotate=90', 60, 80],
    ['-rotate=90>', 60, 80],
    ['-rotate=90<', 80, 60],
    ['-flip -border=1', 82, 62],
  ])('%s gives %i x %i', async (options, width, height) => {
    const made = await convertOne(picture, { format: 'png', options });

    expect(await sizeOf(made)).toEqual({ width, height, format: 'png' });
  });

  it.each([
    ['-flip', [bottomLeft, bottomRight, topLeft, topRight]],
    ['-flop', [topRight, topLeft, bottomRight, bottomLeft]],
    ['-rotate=90', [bottomLeft, topLeft, bottomRight, topRight]],
    ['-rotate=-90', [topRight, bottomRight, topLeft, bottomLeft]],
    ['-negate', UPRIGHT.map((colour) => colour.map((channel) => 255 - channel))],
    ['-colorspace=Gray', UPRIGHT.map((colour) => [0, 0, 0].fill(luma(colour)))],
    [
      '-threshold=30%',
      [
        [0, 0, 0],
        [255, 255, 255],
        [0, 0, 0],
        [255, 255, 255],
      ],
    ],
    ['-gamma=2', UPRIGHT.map((colour) => colour.map((channel) => Math.sqrt(channel / 255) * 255))],
    // What ImageMagick 6.9 makes of these colours.
    [
      '-modulate=100,0',
      [
        [125, 125, 125],
        [100, 100, 100],
        [125, 125, 125],
        [130, 130, 130],
      ],
    ],
    [
      '-modulate=60,150,30',
      [
        [0, 0, 169],
        [132, 0, 2],
        [0, 169, 0],
        [141, 0, 180],
      ],
    ],
    [
      '-modulate=140,40',
      [
        [201, 148, 148],
        [103, 176, 103],
        [148, 148, 201],
        [207, 203, 156],
      ],
    ],
    [
      '-modulate=100,100,150',
      [
        [125, 230, 20],
        [20, 100, 180],
        [230, 20, 125],
        [20, 240, 110],
      ],
    ],
    [
      '-brightness-contrast=20',
      UPRIGHT.map((colour) => colour.map((channel) => Math.min(255, channel + 51))),
    ],
  ])('%s gives the colours it should', async (options, wanted) => {
    const made = await convertOne(picture, { format: 'png', options });

    expectClose(await corners(made), wanted, 4);
  });

  it('are done from left to right', async () => {
    const flippedFirst = await convertOne(picture, { format: 'png', options: '-flip -crop=40x30+0+0' });
    const croppedFirst = await convertOne(picture, { format: 'png', options: '-crop=40x30+0+0 -flip' });
    const borderFirst = await convertOne(picture, {
      format: 'png',
      options: '-bordercolor=white -border=5 -negate',
    });
    const negateFirst = await convertOne(picture, {
      format: 'png',
      options: '-bordercolor=white -negate -border=5',
    });
    const turnedFirst = await convertOne(picture, { format: 'png', options: '-rotate=90 -resize=20x10!' });
    const resizedFirst = await convertOne(picture, { format: 'png', options: '-resize=20x10! -rotate=90' });

    expectClose(
      [await pixel(flippedFirst, 20, 15), await pixel(croppedFirst, 20, 15)],
      [bottomLeft, topLeft],
    );
    expectClose(
      [await pixel(borderFirst, 1, 1), await pixel(negateFirst, 1, 1)],
      [
        [0, 0, 0],
        [255, 255, 255],
      ],
    );
    expect(await sizeOf(turnedFirst)).toMatchObject({ width: 20, height: 10 });
    expect(await sizeOf(resizedFirst)).toMatchObject({ width: 10, height: 20 });
  });

  it('place crops and canvases by gravity', async () => {
    const crop = await convertOne(picture, { format: 'png', options: '-gravity=SouthEast -crop=10x10+2+2' });
    const canvas = await convertOne(picture, {
      format: 'png',
      options: '-gravity=Center -background=none -extent=100x100',
    });

    expectClose([await pixel(crop, 5, 5)], [bottomRight]);
    expect(await pixel(canvas, 50, 15)).toEqual([0, 0, 0, 0]);
    expectClose([await pixel(canvas, 12, 22)], [topLeft]);
  });

  it("trim edges of the corner's colour", async () => {
    const framed = await convertOne(picture, { format: 'png', options: '-bordercolor=#fefefe -border=7x9' });
    const uneven = await convertOne(framed, { format: 'png', options: '-bordercolor=white -border=3' });

    const strict = await convertOne(uneven, { format: 'png', options: '-trim' });
    const fuzzy = await convertOne(uneven, { format: 'png', options: '-trim -fuzz=5%' });

    expect(await sizeOf(strict)).toMatchObject({ width: 94, height: 78 });
    expect(await sizeOf(fuzzy)).toMatchObject({ width: 80, height: 60 });
  });

  it('blur and sharpen', async () => {
    const blurred = await convertOne(picture, { format: 'png', options: '-blur=0x4' });
    const sharpened = await convertOne(blurred, { format: 'png', options: '-unsharp=0x2+2+0' });

    const [, soft] = await pixel(blurred, 42, 10);
    const [, hard] = await pixel(sharpened, 42, 10);
    expect(soft).toBeGreaterThan(90);
    expect(soft).toBeLessThan(160);
    expect(hard).toBeGreaterThan(soft + 5);
  });

  it('make black and white dots', async () => {
    const made = await convertOne(picture, { format: 'png', options: '-monochrome' });

    expect(made[24]).toBe(1);
    const shades = await sharp(made)
      .extract({ left: 0, top: 0, width: 40, height: 30 })
      .toColourspace('b-w')
      .raw()
      .toBuffer();
    const mean = shades.reduce((sum, shade) => sum + shade, 0) / shades.length;
    expect(new Set(shades)).toEqual(new Set([0, 255]));
    expect(Math.abs(mean - luma(topLeft))).toBeLessThan(8);
  });

  it('refuse to leave nothing of the image', async () => {
    const crop = await refusal(picture, { format: 'png', options: '-crop=10x10+100+100' });
    const shave = await refusal(picture, { format: 'png', options: '-shave=40' });

    expect(crop.message).toBe("Parameter '-crop' must overlap the image, which is 80x60 pixels.");
    expect(shave.message).toBe("Parameter '-shave' must leave part of the image, which is 80x60 pixels.");
  });
});

describe('animations', () => {
  const colours = [
    [255, 0, 0],
    [0, 255, 0],
    [0, 0, 255],
  ] as const;
  const size = { width: 40, height: 30 };

  it.each(['gif', 'webp'] as const)('of %s move on as gif and webp, each frame edited', async (format) => {
    const source = await animation(colours, { ...size, format });

    for (const target of ['gif', 'webp'] as const) {
      const made = await convertOne(source, {
        format: target,
        options: '-resize=20x -border=2 -bordercolor=black',
      });
      const { pages, pageHeight, width, delay, loop } = await sharp(made, { animated: true }).metadata();
      expect({ pages, pageHeight, width, delay, loop }).toEqual({
        pages: 3,
        pageHeight: 19,
        width: 24,
        delay: [100, 200, 300],
        loop: 3,
      });
      const last = await sharp(made, { page: 2 }).png().toBuffer();
      expectClose(
        [await pixel(last, 12, 9), await pixel(last, 0, 0)],
        [
          [0, 0, 255],
          [0, 0, 0],
        ],
        30,
      );
    }
  });

  it('are one frame elsewhere, the first or the chosen one', async () => {
    const source = await animation(colours, { ...size, format: 'gif' });

    const first = await convertOne(source, { format: 'png' });
    const chosen = await convertOne(source, { format: 'gif', options: '-frame=1' });
    const none = await refusal(source, { format: 'png', options: '-frame=3' });

    expect((await pixel(first, 5, 5)).slice(0, 3)).toEqual([255, 0, 0]);
    expect((await pixel(chosen, 5, 5)).slice(0, 3)).toEqual([0, 255, 0]);
    expect((await sharp(chosen).metadata()).pages ?? 1).toBe(1);
    expect(none).toMatchObject({
      code: 'PAGE_RANGE',
      message: "Parameter '-frame' is 3, but the source has frames 0 to 2.",
    });
  });
});

describe('hostile sources', () => {
  it.each([
    ['text', 'hello'],
    ['a page', '<html><body><svg></svg></body></html>'],
    ['an ImageMagick script', 'push graphic-context\nimage over 0,0 0,0 "/etc/passwd"'],
    ['a PDF', '%PDF-1.7'],
    [
      'an SVG with entities',
      '<!DOCTYPE svg [<!ENTITY a "aaaa">]><svg xmlns="http://www.w3.org/2000/svg"><text>&a;</text></svg>',
    ],
    ['an SVG in UTF-16', '<?xml version="1.0" encoding="utf-16"?><svg xmlns="http://www.w3.org/2000/svg"/>'],
  ])('refuses %s', async (_, text) => {
    const refused = await refusal(Buffer.from(text), { format: 'png' });

    expect(refused).toMatchObject({ code: 'UNSUPPORTED_SOURCE' });
  });

  it('refuses cut and broken images', async () => {
    const whole = await quarters(400, 300).jpeg().toBuffer();

    const cut = await refusal(whole.subarray(0, whole.length / 2), { format: 'png' });
    const cutAndEdited = await refusal(whole.subarray(0, whole.length / 2), {
      format: 'png',
      options: '-flip -negate',
    });
    const broken = await refusal(Buffer.concat([picture.subarray(0, 40), Buffer.alloc(500)]), {
      format: 'jpg',
    });

    expect([cut.code, cutAndEdited.code, broken.code]).toEqual([
      'CORRUPT_SOURCE',
      'CORRUPT_SOURCE',
      'CORRUPT_SOURCE',
    ]);
  });

  it('counts pixels before it works', async () => {
    const limits = { pixels: 4000 };

    const source = await refusal(picture, { format: 'png', limits });
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

  it('shows an SVG nothing of the machine', async () => {
    const href = new URL('../../fixtures/image.ts', import.meta.url).href;
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
    'refuses the value %s',
    async (options) => {
      const refused = await refusal(picture, { format: 'png', options });

      expect(refused).toMatchObject({ code: 'BAD_PARAMETER' });
    },
  );

  it.each(['-write=x.png', '-fx=u', '-script=x', '-draw=a'])('refuses the operator %s', async (options) => {
    const refused = await refusal(picture, { format: 'png', options });

    expect(refused.message).toContain('is not allowed');
  });
});

function luma([red, green, blue]: readonly [number, number, number]): number {
  return red * 0.2127 + green * 0.7152 + blue * 0.0722;
}

describe('an SVG full of filters', () => {
  const svg = (size: number, inner: string) =>
    Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}">${inner}</svg>`);

  it('is refused before it is drawn where they would go over too many pixels', async () => {
    const bomb = IMAGE_BOMBS.find(({ name }) => name === 'svg of filters')!;

    const answer = await refusal(Buffer.from(await bomb.bytes()), { format: 'png' });

    expect(answer).toMatchObject({ code: 'SOURCE_TOO_LARGE' });
  });

  it('is drawn where it is an ordinary drawing with soft shadows', async () => {
    const shadow = '<filter id="s"><feGaussianBlur stdDeviation="4"/><feOffset dx="5"/></filter>';
    const card = '<rect x="300" y="300" width="500" height="500" fill="#ff0000" filter="url(#s)"/>';

    const drawn = await convertOne(svg(1000, shadow + card.repeat(40)), { format: 'png' });

    expect(await pixel(drawn, 550, 550)).toEqual([255, 0, 0, 255]);
  });
});
