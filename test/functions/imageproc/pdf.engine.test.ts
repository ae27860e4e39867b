import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../functions/imageproc/convert.ts';
import { imageproc } from '../../../functions/imageproc/tool.ts';
import { noisyPhoto, QUARTERS, quarters } from '../../fixtures/image.ts';
import { drawPage, readPdf } from '../../helpers/pdf.ts';
import { pixel } from '../../helpers/pixels.ts';
import { useEngine } from '../conversion.ts';
import { expectClose } from './picture.ts';

const { convert, convertOne, refusal } = useEngine(imageproc, createEngine);
const photo = () => noisyPhoto(96, 96).removeAlpha();
const jpeg = (options = {}) => quarters(96, 48).jpeg({ quality: 100, ...options });

/** The quarters as a JPEG 2000 of 16 by 8 pixels. */
const JP2 = Buffer.from(
  `AAAADGpQICANCocKAAAAFGZ0eXBqcDIgAAAAAGpwMiAAAAAtanAyaAAAABZpaGRyAAAACAAAABAAAwcHAAAAAAAPY29scgEA
AAAAABAAAAEnanAyY/9P/1EALwAAAAAAEAAAAAgAAAAAAAAAAAAAABAAAAAIAAAAAAAAAAAAAwcBAQcBAQcBAf9SAAwAAAAB
AQAEBAAB/1wABEBA/2QAJQABQ3JlYXRlZCBieSBPcGVuSlBFRyB2ZXJzaW9uIDIuNS4w/5AACgAAAAAArwAB/5PH1GYRUFMZ
CxAWsrakAADCQg75SCcngAAMI5x/j9FOEfcpoj7lNEhLYpcAGEd8phIS2KXABhHfgbg7DQzJrgGKB6WkAAYSEuwXdKYAYSEt
sYmcABhHfKYSENfqYIADCQQBTYSEvuitAAAMI5x/kH3x34FwFABbQ5kVlmPVAMJCHlkADCQJxHustFFBhHy1CEYASOfICAAB
hH5FzYvGEhKgf//Z`,
  'base64',
);

/** A photo of 64 by 64 pixels as phones store it. */
const HEIC = Buffer.from(
  `AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAUJtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAA
AA5waXRtAAAAAAABAAAAImlsb2MAAAAAREAAAQABAAAAAAFmAAEAAAAAAAAAgQAAACNpaW5mAAAAAAABAAAAFWluZmUCAAAAAAEA
AGh2YzEAAAAAwmlwcnAAAACkaXBjbwAAAHhodmNDAQNwAAAAAAAAAAAAHvAA/P34+AAADwMgAAEAGEABDAH//wNwAAADAJAAAAMA
AAMAHroCQCEAAQArQgEBA3AAAAMAkAAAAwAAAwAeoCCBBZbqSSmubgQEDAgAAAMACAAAAwAIQCIAAQAHRAHBcrAiQAAAABRpc3Bl
AAAAAAAAAEAAAABAAAAAEHBpeGkAAAAAAwgICAAAABZpcG1hAAAAAAAAAAEAAQOBAoMAAACJbWRhdAAAAH0oAa8ZgLCZEo6FfKEK
EyADn7WiI/LD8GgTmW1+Qei2b4DrG3yrRrJNJE+1S1EmhvlUj3GRUZ66LU6+31fn774a0xTqcHuRNiq88SlJFZ8ez8/gv1vVKZUG
Ac7iE1BVyAzvLT0stZF12cpnt5YWWyq0+KyfZVy922cuWxDfQA==`,
  'base64',
);

/** Returns the compression and the number of components of each image in a PDF, without masks. */
function imagesIn(pdf: Buffer) {
  const images = pdf
    .toString('latin1')
    .matchAll(/\/Subtype \/Image.*\/ColorSpace (.*) \/BitsPer.*\/Filter \/(\w+)/g);
  return [...images].map(([, space, filter]) => `${filter} ${space!.split(' ')[0]}`);
}

describe('a PDF', () => {
  it('contains a JPEG byte for byte, upright, in the size of its resolution', async () => {
    const turned = await jpeg().withMetadata({ orientation: 6, density: 96 }).toBuffer();

    const pdf = await convertOne(turned, { format: 'pdf', options: '-strip=no' });

    expect(pdf.includes(turned)).toBe(true);
    const { pages } = await readPdf(pdf);
    expect(pages).toMatchObject([{ width: 36, height: 72 }]);
    const upright = await sharp(turned).autoOrient().png().toBuffer();
    const drawn = await drawPage(pdf, 1, 96 / 72);
    for (const [x, y] of [
      [10, 10],
      [40, 10],
      [10, 80],
      [40, 80],
    ] as const)
      expectClose([await pixel(drawn, x, y)], [await pixel(upright, x, y)], 6);
  });

  it('contains a JPEG without its metadata and what follows it, still upright', async () => {
    const exif = { IFD0: { Model: 'Camera of Ada' } };
    const turned = await jpeg().withExif(exif).withMetadata({ orientation: 6 }).toBuffer();
    const source = Buffer.concat([turned, Buffer.from('a film')]);

    const pdf = await convertOne(source, { format: 'pdf' });

    const scan = turned.subarray(turned.indexOf('\xff\xda', 0, 'latin1'));
    expect(['Camera', 'a film', scan].map((part) => pdf.includes(part))).toEqual([false, false, true]);
    expect((await readPdf(pdf)).pages).toMatchObject([{ width: 36, height: 72 }]);
  });

  it('has a warning about a truncated JPEG', async () => {
    const photo = await noisyPhoto(96, 96)
      .jpeg()
      .withExif({ IFD0: { Model: '\xff\xd9' } })
      .toBuffer();

    const { warnings } = await convert(photo.subarray(0, photo.length * 0.6), { format: 'pdf' });

    expect(warnings).toEqual(['The image is damaged. Only its readable part was converted.']);
  });

  it('contains no JPEG with arithmetic compression, which some viewers do not read', async () => {
    const options = '-define=jpeg:arithmetic-coding=true';
    const arithmetic = await convertOne(await jpeg().toBuffer(), { format: 'jpg', options });

    const pdf = await convertOne(arithmetic, { format: 'pdf' });

    expect(pdf.includes(arithmetic)).toBe(false);
    expectClose([await pixel(await drawPage(pdf, 1), 10, 10)], [QUARTERS.topLeft], 12);
  });

  it('keeps its margin around an image that fills the page, and needs space inside it', async () => {
    const options = '-pagesize=100mmx100mm -fit=fill';
    const source = await jpeg().toBuffer();

    const pdf = await convertOne(source, { format: 'pdf', options: `${options} -margin=20mm` });
    const error = await refusal(source, { format: 'pdf', options: `${options} -margin=50mm` });

    const drawn = await drawPage(pdf, 1);
    expect(await pixel(drawn, 50, 140)).toEqual([255, 255, 255, 255]);
    expectClose([await pixel(drawn, 65, 65)], [QUARTERS.topLeft], 12);
    expect(error).toMatchObject({ code: 'BAD_PARAMETER', parameter: '-margin' });
  });

  it('contains a JPEG 2000 byte for byte', async () => {
    const pdf = await convertOne(JP2, { format: 'pdf', options: '-density=18' });

    expect(pdf.includes(JP2)).toBe(true);
    const drawn = await drawPage(pdf, 1);
    const places = [10, 50].flatMap((x) => [5, 25].map((y) => pixel(drawn, x, y)));
    const { topLeft, bottomLeft, topRight, bottomRight } = QUARTERS;
    expectClose(await Promise.all(places), [topLeft, bottomLeft, topRight, bottomRight], 6);
  });

  it.each([
    ['CMYK', () => jpeg().toColorspace('cmyk').toBuffer()],
    ['transparent', () => quarters(96, 48).png().toBuffer()],
    ['edited', () => jpeg().toBuffer()],
  ])('shows the colors of a %s image', async (name, make) => {
    const options = name === 'edited' ? '-flip -flop' : '';

    const pdf = await convertOne(await make(), { format: 'pdf', options });

    const drawn = await drawPage(pdf, 1);
    const { width, height } = await sharp(drawn).metadata();
    const first = await pixel(drawn, width / 4, height / 4);
    const last = await pixel(drawn, (3 * width) / 4, (3 * height) / 4);
    const expected = [QUARTERS.topLeft, QUARTERS.bottomRight];
    expectClose([first, last], name === 'edited' ? expected.reverse() : expected, name === 'CMYK' ? 60 : 12);
  });

  it('has a page of paper for each frame, turned to its shape', async () => {
    const frames = [
      await quarters(90, 40).png().toBuffer(),
      await quarters(90, 40).negate().png().toBuffer(),
    ];
    const animation = await sharp(frames, { join: { animated: true } })
      .gif()
      .toBuffer();

    const pdf = await convertOne(animation, {
      format: 'pdf',
      options: '-pagesize=A4 -margin=10mm -fit=shrink',
    });

    const { pages } = await readPdf(pdf);
    expect(pages.map(({ width, height }) => [Math.round(width), Math.round(height)])).toEqual(
      Array(2).fill([842, 595]),
    );
  });

  it.each([
    ['a HEIC', () => HEIC, 'DCTDecode /DeviceRGB'],
    ['a PNG of a photo', () => photo().png(), 'DCTDecode /DeviceRGB'],
    ['a TIFF of a gray photo', () => photo().grayscale().tiff(), 'DCTDecode /DeviceGray'],
    ['a screenshot', () => quarters(96, 48).png(), 'FlateDecode [/Indexed'],
    ['a screenshot as WebP', () => quarters(96, 48).webp({ lossless: true }), 'FlateDecode [/Indexed'],
    ['a photo of 16 colors', () => photo().png({ colors: 16 }), 'FlateDecode [/Indexed'],
  ])('contains %s in the compression that suits it', async (_name, make, expected) => {
    const source = make();

    const pdf = await convertOne(Buffer.isBuffer(source) ? source : await source.toBuffer(), {
      format: 'pdf',
    });

    expect(imagesIn(pdf)).toEqual([expected]);
  });

  it('loses nothing of a photo with -compress=Zip, nor of a transparent one', async () => {
    const opaque = await photo().linear(0.1, 100).png().toBuffer();
    const transparent = await photo().ensureAlpha(0.5).png().toBuffer();

    const zipped = await convertOne(opaque, { format: 'pdf', options: '-compress=Zip' });
    const masked = await convertOne(transparent, { format: 'pdf' });

    for (const [pdf, images] of [
      [zipped, ['FlateDecode /DeviceRGB']],
      [masked, ['FlateDecode /DeviceGray', 'FlateDecode /DeviceRGB']],
    ] as const)
      expect(imagesIn(pdf)).toEqual(images);
    const drawn = await drawPage(zipped, 1, 96 / 72);
    for (const at of [8, 40, 90])
      expectClose([await pixel(drawn, at, at)], [await pixel(opaque, at, at)], 30);
  });
});
