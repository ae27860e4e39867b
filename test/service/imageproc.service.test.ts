import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { orientedJpeg, QUARTERS, quarters } from '../fixtures/image.ts';
import { difference, pixel } from '../helpers/pixels.ts';
import { useService } from './server/use-service.ts';

/** Transparent on the left, opaque red on the right. */
const HALF_CLEAR = sharp({ create: { width: 200, height: 100, channels: 4, background: '#0000' } })
  .composite([
    { input: { create: { width: 100, height: 100, channels: 4, background: 'red' } }, left: 100, top: 0 },
  ])
  .png();

const used = useService(async () => ({
  'quarters.png': await quarters(400, 300).png().toBuffer(),
  'quarters.webp': await quarters(400, 300).webp({ lossless: true }).toBuffer(),
  'quarters.gif': await quarters(400, 300).gif().toBuffer(),
  'quarters.tiff': await quarters(400, 300).tiff().toBuffer(),
  'quarters.avif': await quarters(400, 300).avif({ lossless: true }).toBuffer(),
  'quarters.svg':
    '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="300"><rect width="400" height="300" fill="rgb(230,20,20)"/></svg>',
  'half clear.png': await HALF_CLEAR.toBuffer(),
  ...Object.fromEntries(
    await Promise.all(
      [1, 2, 3, 4, 5, 6, 7, 8].map(async (turn) => [
        `turned-${turn}.jpg`,
        await orientedJpeg(turn, 400, 300),
      ]),
    ),
  ),
  'private.jpg': await quarters(40, 30)
    .withExif({ IFD0: { Copyright: 'private' } })
    .jpeg()
    .toBuffer(),
  'half.png': (await quarters(400, 300).png({ compressionLevel: 0 }).toBuffer()).subarray(0, 100_000),
  'text.png': 'not an image',
}));

const ask = (infile: string, outfile: string, options: Record<string, string | number> = {}) => ({
  app: 'imageproc',
  infile: used().sources.urlOf(infile),
  outfile,
  ...options,
});

async function corners(bytes: Buffer): Promise<number[][]> {
  const { width, height } = await sharp(bytes).metadata();
  const at = [
    [3, 3],
    [width - 4, 3],
    [3, height - 4],
    [width - 4, height - 4],
  ] as const;
  return Promise.all(at.map(async ([x, y]) => (await pixel(bytes, x, y)).slice(0, 3)));
}

/** Each channel may differ by a few steps, as after JPEG compression. */
function expectColors(found: number[][], expected: ReadonlyArray<readonly number[]>): void {
  for (const [place, color] of expected.entries()) {
    for (const [channel, value] of color.entries()) {
      expect(Math.abs(found[place]![channel]! - value)).toBeLessThanOrEqual(12);
    }
  }
}

describe('imageproc', () => {
  it.each(['png', 'webp', 'gif', 'tiff', 'avif'])(
    'converts %s to jpg with colors in their places',
    async (format) => {
      const { bytes, contentType } = await used().client.convert(ask(`quarters.${format}`, 'a.jpg'));

      expect(await sharp(bytes).metadata()).toMatchObject({ format: 'jpeg', width: 400, height: 300 });
      expect(contentType).toBe('image/jpeg');
      expectColors(await corners(bytes), Object.values(QUARTERS));
    },
  );

  it.each(['jpg', 'png', 'webp', 'gif', 'tiff', 'avif'])('writes %s', async (format) => {
    const { bytes } = await used().client.convert(ask('quarters.png', `a.${format}`, { '-resize': '200x' }));

    expect(await sharp(bytes).metadata()).toMatchObject({ width: 200, height: 150 });
    expect(await difference(bytes, await quarters(400, 300).png().toBuffer())).toBeLessThan(5);
  });

  it.each([
    ['bmp', 400, 300],
    ['ico', 256, 192],
  ])('writes %s', async (format, width, height) => {
    const { client } = used();
    const url = await client.resultUrl(ask('quarters.png', `a.${format}`));

    const { bytes } = await client.convert({ app: 'imageproc', infile: url, outfile: 'a.png' });

    expect(await sharp(bytes).metadata()).toMatchObject({ width, height });
    expectColors(await corners(bytes), Object.values(QUARTERS));
  });

  it.each([
    ['200x200!', 200, 200],
    ['200x200', 200, 150],
    ['800x600', 800, 600],
    ['800x600>', 400, 300],
    ['200x100<', 400, 300],
    ['200x200^', 267, 200],
    ['50%', 200, 150],
    ['30000@', 200, 150],
    ['100', 100, 75],
    ['x100', 133, 100],
    ['200x200\\!', 200, 200],
  ])('resizes to %s', async (geometry, width, height) => {
    const { bytes } = await used().client.convert(ask('quarters.png', 'a.jpg', { '-resize': geometry }));

    expect(await sharp(bytes).metadata()).toMatchObject({ width, height });
    expectColors(await corners(bytes), Object.values(QUARTERS));
  });

  it('accepts ! raw and as %21', async () => {
    const { client, service, sources } = used();
    const query = `apikey=${service.apiKey}&app=imageproc&infile=${sources.urlOf('quarters.png')}&outfile=a.jpg&-resize=`;

    for (const geometry of ['120x50!', '120x50%21']) {
      const { body } = await client.send(query + geometry);
      const bytes = Buffer.from(await (await fetch(body.slice(9, -4))).arrayBuffer());
      expect(await sharp(bytes).metadata()).toMatchObject({ width: 120, height: 50 });
    }
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])('rotates a photo of EXIF orientation %i upright', async (turn) => {
    const { bytes } = await used().client.convert(ask(`turned-${turn}.jpg`, 'a.png'));

    const { width, height, orientation = 1 } = await sharp(bytes).metadata();
    expect({ width, height, orientation }).toEqual({ width: 400, height: 300, orientation: 1 });
    expectColors(await corners(bytes), Object.values(QUARTERS));
  });

  it('draws transparency on white for jpg and keeps it for png', async () => {
    const { client } = used();
    const [jpg, png] = [
      await client.convert(ask('half clear.png', 'a.jpg')),
      await client.convert(ask('half clear.png', 'a.png')),
    ];

    expectColors(
      [await pixel(jpg.bytes, 20, 50), await pixel(jpg.bytes, 180, 50)],
      [
        [255, 255, 255],
        [254, 0, 0],
      ],
    );
    expect((await pixel(png.bytes, 20, 50))[3]).toBe(0);
    expect(await pixel(png.bytes, 180, 50)).toEqual([255, 0, 0, 255]);
  });

  it('converts SVG', async () => {
    const { bytes } = await used().client.convert(ask('quarters.svg', 'a.png'));

    expectColors(await corners(bytes), [QUARTERS.topLeft, QUARTERS.topLeft]);
  });

  it('removes metadata', async () => {
    const { bytes } = await used().client.convert(ask('private.jpg', 'a.jpg'));

    expect(bytes.includes('private')).toBe(false);
    expect((await sharp(bytes).metadata()).exif).toBeUndefined();
  });

  it('applies operators from left to right', async () => {
    const { client } = used();
    const [cropped, resized] = [
      await client.convert(ask('quarters.png', 'a.png', { _args: '-crop 200x150+0+0 -resize 100x' })),
      await client.convert(ask('quarters.png', 'a.png', { _args: '-resize 100x -crop 200x150+0+0' })),
    ];

    expectColors(
      await corners(cropped.bytes),
      Array.from({ length: 4 }, () => QUARTERS.topLeft),
    );
    expect(await sharp(resized.bytes).metadata()).toMatchObject({ width: 100, height: 75 });
    expectColors(await corners(resized.bytes), Object.values(QUARTERS));
  });

  it.each([
    ['half.png', 422, /^(CORRUPT_SOURCE|CONVERSION_FAILED)$/],
    ['text.png', 415, /^UNSUPPORTED_SOURCE$/],
  ])('rejects %s', async (infile, status, code) => {
    const refusal = await used().client.refuse(ask(infile, 'a.jpg'));

    expect(refusal.code).toMatch(code);
    expect(refusal.status).toBe(status);
  });

  it.each([
    [{ '-resize': 'wide' }, 'BAD_PARAMETER'],
    [{ '-resize': '0x0' }, 'BAD_PARAMETER'],
    [{ '-resize': '20000x1' }, 'BAD_PARAMETER'],
    [{ '-write': '/tmp/x' }, 'BAD_PARAMETER'],
    [{ '-reside': '1x1' }, 'UNKNOWN_PARAMETER'],
    [{ '-resize': '16000x16000!' }, 'RESULT_TOO_LARGE'],
  ])('rejects %j', async (options, code) => {
    expect(await used().client.refuse(ask('quarters.png', 'a.jpg', options))).toMatchObject({ code });
  });

  it('does not read local files that an image names', async () => {
    const { client, sources } = used();
    const refusal = await client.refuse({ app: 'imageproc', infile: 'msl:/etc/passwd', outfile: 'a.png' });

    expect(refusal.code).toBe('BAD_ADDRESS');
    expect(sources.asked).not.toContain('etc/passwd');
  });
});
