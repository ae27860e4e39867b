import { describe, expect, it } from 'vitest';
import { Measurement } from '../../../functions/conversion/handler.ts';
import type { Format } from '../../../functions/shared/formats.ts';
import type { Output } from '../../../functions/shared/tool.ts';

/** Returns how many pages are counted for outputs of a source with ten pages. */
async function pagesOf(format: Format, outputs: readonly Output[]): Promise<number> {
  const measurement = new Measurement();
  for await (const _ of measurement.pagesOf({ outputs, pageCount: 10, settled: true }, format));
  return measurement.result().pages;
}

describe('the number of pages', () => {
  it('is that of a PDF', async () => {
    expect(await pagesOf('pdf', [{ path: 'a.pdf' }])).toBe(10);
  });

  it('is that of the pages which were selected', async () => {
    expect(await pagesOf('pdf', [{ path: 'a.pdf', pages: 2 }])).toBe(2);
    expect(
      await pagesOf(
        'pdf',
        [1, 2, 3].map((page) => ({ path: `${page}`, page, pages: 1 })),
      ),
    ).toBe(3);
  });

  it('is that of the files if they are not PDFs', async () => {
    expect(
      await pagesOf(
        'png',
        [1, 2, 3].map((page) => ({ path: `${page}`, page })),
      ),
    ).toBe(3);
  });
});
