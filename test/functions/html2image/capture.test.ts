import { describe, expect, it } from 'vitest';
import { cropArea, imageSize } from '../../../functions/html2image/capture.ts';
import { type Html2imageOptions, html2image } from '../../../functions/html2image/tool.ts';
import { readOptions } from '../../../functions/shared/options/read-options.ts';
import { CONVERSION_LIMITS } from '../../../functions/shared/tool.ts';

const whole = { x: 0, y: 0, width: 1000, height: 800 };

function options(query: Record<string, string>) {
  const given = Object.entries(query).map(([name, value]) => ({ name, value }));
  const { zoom = 1, ...others } = readOptions(html2image, given).options as Html2imageOptions;
  return { ...others, zoom };
}

describe('a crop', () => {
  it('is the whole image by default', () => {
    expect(cropArea(whole, options({}))).toEqual(whole);
  });

  it('is in image pixels, and limited to the image', () => {
    const query = { '--crop-x': '200', '--crop-y': '100', '-w': '400', '--crop-h': '99999', '--zoom': '2' };

    expect(cropArea(whole, options(query))).toEqual({ x: 100, y: 50, width: 200, height: 750 });
  });

  it('is relative to the selected element', () => {
    expect(cropArea({ ...whole, x: 30, y: 40 }, options({ '--crop-x': '5' }))).toMatchObject({
      x: 35,
      y: 40,
      width: 995,
    });
  });

  it('must overlap the image', () => {
    expect(() => cropArea(whole, options({ '--crop-y': '800' }))).toThrow(
      expect.objectContaining({
        code: 'BAD_PARAMETER',
        message:
          "Parameters '--crop-x' and '--crop-y' must be inside the image, which is 1000x800 pixels, got 0 and 800.",
        parameter: '--crop-y',
      }),
    );
  });
});

describe('the size of an image', () => {
  it('is the size of the page times the zoom', () => {
    expect(imageSize(whole, 1.5, 'png', CONVERSION_LIMITS)).toEqual({ width: 1500, height: 1200 });
  });

  it('is limited by the format and by the total number of pixels', () => {
    const tall = { ...whole, width: 100, height: 65_536 };

    for (const [area, format] of [
      [tall, 'jpg'],
      [{ ...tall, height: 16_384 }, 'webp'],
      [{ ...whole, height: 100_001 }, 'png'],
    ] as const) {
      expect(() => imageSize(area, 1, format, CONVERSION_LIMITS)).toThrow(
        expect.objectContaining({ code: 'RESULT_TOO_LARGE' }),
      );
    }
    expect(() => imageSize(tall, 1, 'jpg', CONVERSION_LIMITS)).toThrow(
      'The image would be 100x65536 pixels. The maximum for jpg is 65535 pixels per side.',
    );
    expect(imageSize({ ...tall, height: 65_535 }, 1, 'jpg', CONVERSION_LIMITS)).toEqual({
      width: 100,
      height: 65_535,
    });
    expect(imageSize(tall, 1, 'png', CONVERSION_LIMITS)).toEqual({ width: 100, height: 65_536 });
  });
});
