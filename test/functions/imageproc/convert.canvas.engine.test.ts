import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import sharp from 'sharp';
import { afterAll, describe, expect, it } from 'vitest';
import { createEngine } from '../../../functions/imageproc/convert.ts';
import { imageproc } from '../../../functions/imageproc/tool.ts';
import { animation, disc, QUARTERS } from '../../fixtures/image.ts';
import { pixel } from '../../helpers/pixels.ts';
import { allowPorts, useEngine } from '../conversion.ts';
import { expectClose, PICTURE, sizeOf } from './picture.ts';

const { convertOne, refusal } = useEngine(imageproc, createEngine);

/** A black outline, one pixel wide, 70 by 70 on a white canvas of 100 by 100. */
const outline = await sharp(
  Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100"><rect width="100" height="100" fill="#fff"/><rect x="15.5" y="15.5" width="69" height="69" fill="none" stroke="#000"/></svg>',
  ),
)
  .png()
  .toBuffer();

describe('-trim', () => {
  it('keeps an outline that is one pixel wide', async () => {
    const made = await convertOne(outline, { format: 'png', options: '-trim' });

    expect(await sizeOf(made)).toMatchObject({ width: 70, height: 70 });
    expect((await pixel(made, 0, 0)).slice(0, 3)).toEqual([0, 0, 0]);
  });

  it('compares each edge with its own corner', async () => {
    const sides = await convertOne(PICTURE, {
      format: 'png',
      options: '-gravity=West -background=red -extent=90x60 -gravity=East -background=blue -extent=95x60',
    });

    const made = await convertOne(sides, { format: 'png', options: '-trim' });

    expect(await sizeOf(made)).toMatchObject({ width: 80, height: 60 });
  });
});

describe('-crop and -extent', () => {
  it.each([
    ['-crop=1:1', 60, 60],
    ['-crop=16:9', 80, 45],
    ['-gravity=Center -crop=1:2', 30, 60],
    ['-extent=1:1', 80, 80],
    ['-extent=4:1', 240, 60],
  ])('%s is %i x %i', async (options, width, height) => {
    const made = await convertOne(PICTURE, { format: 'png', options });

    expect(await sizeOf(made)).toMatchObject({ width, height });
  });

  it.each(['Attention', 'Entropy'])('find the interesting part with -gravity=%s', async (gravity) => {
    const noise = Buffer.from(Array.from({ length: 60 * 60 * 3 }, (_, at) => (at * 7919) % 256));
    const part = { input: noise, raw: { width: 60, height: 60, channels: 3 as const } };
    const plain = sharp({ create: { width: 400, height: 60, channels: 3, background: '#dddddd' } });
    const source = await plain
      .composite([{ ...part, left: 310, top: 0 }])
      .png()
      .toBuffer();

    const made = await convertOne(source, { format: 'png', options: `-gravity=${gravity} -crop=100x60` });

    expect(await sizeOf(made)).toMatchObject({ width: 100, height: 60 });
    const { channels } = await sharp(made).stats();
    expect(channels[0]!.stdev).toBeGreaterThan(40);
  });
});

describe('-rounded-corners', () => {
  it('makes corners transparent and keeps the edges', async () => {
    const made = await convertOne(PICTURE, { format: 'png', options: '-rounded-corners=20' });

    expect((await pixel(made, 0, 0))[3]).toBe(0);
    expect((await pixel(made, 79, 59))[3]).toBe(0);
    expect((await pixel(made, 40, 0))[3]).toBe(255);
    expect((await pixel(made, 6, 6))[3]).toBeGreaterThan(0);
  });

  it('shows the background in a jpg', async () => {
    const made = await convertOne(PICTURE, {
      format: 'jpg',
      options: '-rounded-corners=50% -background=blue',
    });

    const [red, , blue] = await pixel(made, 1, 1);
    expect(red).toBeLessThan(20);
    expect(blue).toBeGreaterThan(235);
  });
});

describe('-append', () => {
  it.each([
    ['-append', 40, 90],
    ['+append', 120, 30],
  ])('without a URL joins all frames: %s', async (options, width, height) => {
    const colors = [
      [255, 0, 0],
      [0, 255, 0],
      [0, 0, 255],
    ] as const;
    const source = await animation(colors, { width: 40, height: 30, format: 'gif' });

    const made = await convertOne(source, { format: 'png', options });

    expect(await sizeOf(made)).toMatchObject({ width, height });
    expect((await pixel(made, 5, 5)).slice(0, 3)).toEqual([255, 0, 0]);
    expect((await pixel(made, width - 5, height - 5)).slice(0, 3)).toEqual([0, 0, 255]);
  });
});

const stamp = await sharp({ create: { width: 20, height: 10, channels: 4, background: '#ffffff' } })
  .png()
  .toBuffer();
const files: Readonly<Record<string, Buffer>> = {
  '/stamp.png': stamp,
  '/disc.png': await disc(40),
  '/text.png': Buffer.from('no image'),
};
const server = createServer((request, response) => {
  const file = files[request.url ?? ''];
  response.writeHead(file ? 200 : 404).end(file);
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
afterAll(() => server.close());
allowPorts(port);
const url = (name: string) => `http://127.0.0.1:${port}/${name}`;

describe('-composite', () => {
  it('draws an image of a URL at its gravity and offset', async () => {
    const options = `-gravity=SouthEast -geometry=+5+6 -composite=${url('stamp.png')}`;

    const made = await convertOne(PICTURE, { format: 'png', options });

    expect(await sizeOf(made)).toMatchObject({ width: 80, height: 60 });
    expectClose(
      [
        await pixel(made, 56, 45),
        await pixel(made, 74, 53),
        await pixel(made, 54, 50),
        await pixel(made, 76, 50),
      ],
      [[255, 255, 255], [255, 255, 255], QUARTERS.bottomRight, QUARTERS.bottomRight],
      3,
    );
  });

  it('resizes, blends and dissolves the image', async () => {
    const large = await convertOne(PICTURE, {
      format: 'png',
      options: `-geometry=40x30!+0+0 -composite=${url('stamp.png')}`,
    });
    const half = await convertOne(PICTURE, {
      format: 'png',
      options: `-dissolve=50 -composite=${url('stamp.png')}`,
    });
    const product = await convertOne(PICTURE, {
      format: 'png',
      options: `-compose=Multiply -composite=${url('stamp.png')}`,
    });

    expectClose([await pixel(large, 38, 28)], [[255, 255, 255]], 3);
    expectClose([await pixel(half, 5, 5)], [QUARTERS.topLeft.map((channel) => (channel + 255) / 2)], 3);
    expectClose([await pixel(product, 5, 5)], [QUARTERS.topLeft], 3);
  });

  it('shows the image through transparency', async () => {
    const made = await convertOne(PICTURE, { format: 'png', options: `-composite=${url('disc.png')}` });

    expectClose([await pixel(made, 1, 1), await pixel(made, 20, 20)], [QUARTERS.topLeft, [0, 0, 0]], 3);
  });

  it.each([
    ['missing.png', 'SOURCE_STATUS'],
    ['text.png', 'UNSUPPORTED_SOURCE'],
  ])('rejects %s', async (name, code) => {
    const refused = await refusal(PICTURE, { format: 'png', options: `-composite=${url(name)}` });

    expect(refused).toMatchObject({ code });
  });

  it('cannot access anything that the egress guard blocks', async () => {
    const refused = await refusal(PICTURE, { format: 'png', options: '-composite=http://127.0.0.1:9/x.png' });

    expect(refused).toMatchObject({ code: 'BLOCKED_ADDRESS' });
    expect(refused.message).toMatch(/^The image for '-composite' could not be loaded\. /);
  });

  it('accepts at most 10 images', async () => {
    const options = Array.from({ length: 11 }, (_, index) => `-composite=${url(`${index}.png`)}`).join(' ');

    expect(await refusal(PICTURE, { format: 'png', options })).toMatchObject({ code: 'BAD_PARAMETER' });
  });
});

describe('-append with a URL', () => {
  it('adds the image below, on the background', async () => {
    const made = await convertOne(PICTURE, {
      format: 'png',
      options: `-background=navy -append=${url('stamp.png')}`,
    });

    expect(await sizeOf(made)).toMatchObject({ width: 80, height: 70 });
    expectClose(
      [await pixel(made, 5, 65), await pixel(made, 60, 65)],
      [
        [255, 255, 255],
        [0, 0, 128],
      ],
      3,
    );
  });
});

describe('-annotate', () => {
  /** Returns where something was drawn on white. */
  async function drawn(options: string) {
    const white = await sharp({ create: { width: 200, height: 100, channels: 3, background: '#fff' } })
      .png()
      .toBuffer();
    const made = await convertOne(white, { format: 'png', options });
    const { info } = await sharp(made).trim({ lineArt: true }).toBuffer({ resolveWithObject: true });
    return { left: -info.trimOffsetLeft!, top: -info.trimOffsetTop!, width: info.width, height: info.height };
  }

  it('aligns text by gravity', async () => {
    const corner = await drawn('-gravity=SouthEast -pointsize=20 -annotate=+5+5\u00a0Hello');
    const middle = await drawn('-gravity=Center -pointsize=20 -annotate=Hello');

    expect(corner.left + corner.width).toBeGreaterThan(190);
    expect(corner.top).toBeGreaterThan(70);
    expect(Math.abs(middle.left + middle.width / 2 - 100)).toBeLessThan(3);
    expect(Math.abs(middle.top + middle.height / 2 - 50)).toBeLessThan(5);
  });

  it('writes larger text, and several lines', async () => {
    const small = await drawn('-pointsize=12 -annotate=Hxg');
    const large = await drawn('-pointsize=36 -annotate=Hxg');
    const lines = await drawn('-pointsize=12 -annotate=Hxg\\nHxg');

    expect(large.height / small.height).toBeCloseTo(3, 0);
    expect(lines.height).toBeGreaterThan(small.height * 1.8);
  });

  it('treats markup as text', async () => {
    const plain = await drawn('-pointsize=20 -annotate=xx');
    const markup = await drawn('-pointsize=20 -annotate=<tspan></tspan>xx&lt;');

    expect(markup.width).toBeGreaterThan(plain.width * 4);
  });

  it('changes settings between two texts', async () => {
    const both = await drawn('-gravity=North -annotate=One -gravity=South -annotate=Two');

    expect(both.height).toBeGreaterThan(80);
  });
});
