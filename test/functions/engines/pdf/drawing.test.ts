import { describe, expect, it } from 'vitest';
import { framePage } from '../../../../functions/engines/pdf/drawing.ts';
import type { PdfOptions } from '../../../../functions/engines/pdf/options.ts';
import { pdftools } from '../../../../functions/pdftools/tool.ts';
import { readOptions } from '../../../../functions/shared/options/read-options.ts';

const A4 = { width: 595.276, height: 841.89 };

function options(given: Readonly<Record<string, string>> = {}): PdfOptions {
  const pairs = Object.entries(given).map(([name, value]) => ({ name, value }));
  return readOptions(pdftools, pairs).options as PdfOptions;
}

describe('framePage', () => {
  it('rounds up, but ignores errors of single precision', () => {
    const frame = framePage({ width: 100.01, height: Math.fround(420.48) }, options({ '-r': '150' }));

    expect(frame.page).toEqual({ width: 209, height: 876 });
  });

  it('is at least one pixel', () => {
    const frame = framePage({ width: 1, height: 5000 }, options({ '-scale-to': '10' }));

    expect(frame.page).toEqual({ width: 1, height: 10 });
  });

  it('bounds the resolution in the file to what a JPEG can store', () => {
    const tiny = framePage({ width: 1, height: 1 }, options({ '-width': '2000' }));
    const huge = framePage({ width: 144_000, height: 1000 }, options({ '-width': '1' }));

    expect(tiny.density).toEqual([65_535, 65_535]);
    expect(huge.density).toEqual([1, 1]);
  });

  it('rotates the page before scaling it', () => {
    const frame = framePage(A4, { ...options({ '-width': '1000' }), rotate: 270 });

    expect(frame.page).toEqual({ width: 1000, height: 708 });
  });

  it('prefers exact sides to the long side and to the resolution', () => {
    const frame = framePage(
      A4,
      options({ '-width': '10', '-height': '20', '-scale-to': '500', '-r': '300' }),
    );

    expect(frame.page).toEqual({ width: 10, height: 20 });
  });

  it.each([
    [
      { width: 1e-18, height: 144_000 },
      { '-width': '100', '-W': '10', '-H': '10' },
    ],
    [
      { width: 144_000, height: 0.001 },
      { '-height': '16384', '-W': '10', '-H': '10' },
    ],
  ])('rejects a page of %o with %o, although the crop is small', (points, given) => {
    const huge = () => framePage(points, options(given));

    expect(huge).toThrow(/The whole page would be \S+ pixels\. The maximum is 10000000 pixels per side\./);
  });

  it('rejects a crop that starts outside the page', () => {
    const beside = () => framePage(A4, options({ '-r': '72', '-x': '596' }));

    expect(beside).toThrow(
      expect.objectContaining({
        message: "Parameters '-x' and '-y' must be inside the page, which is 596x842 pixels, got 596 and 0.",
        parameter: '-x',
      }),
    );
  });
});
