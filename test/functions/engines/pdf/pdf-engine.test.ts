import { describe, expect, it } from 'vitest';
import { drawPages, splitPages } from '../../../../functions/engines/pdf/pdf-engine.ts';

const ten = Array.from({ length: 10 }, (_, index) => index + 1);

async function collect<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const all: Value[] = [];
  for await (const value of values) all.push(value);
  return all;
}

describe('splitPages', () => {
  it.each([1, 2, 7, 40, 500])('keeps all of %i pages in order, in shares of at most 16', (count) => {
    const pages = Array.from({ length: count }, (_, index) => index + 1);

    const shares = splitPages(pages, 2);

    expect(shares.flat()).toEqual(pages);
    for (const share of shares) expect(share.length).toBeLessThanOrEqual(16);
  });

  it('gives every process a share', () => {
    expect(splitPages([1, 2], 2)).toEqual([[1], [2]]);
  });
});

describe('drawPages', () => {
  it('yields pages in order whichever finishes first', async () => {
    const outputs = drawPages(ten, 2, async (pages, { onDrawn }) => {
      await new Promise((resolve) => setTimeout(resolve, pages[0]! % 2 === 1 ? 20 : 1));
      for (const page of pages) onDrawn({ page, path: `/${page}` });
    })(new AbortController().signal);

    expect(await collect(outputs)).toEqual(ten.map((page) => ({ page, path: `/${page}` })));
  });

  it('ends with the first failure and stops the other processes', async () => {
    const stopped: boolean[] = [];
    const outputs = drawPages(ten, 2, async (pages, { signal }) => {
      if (pages.includes(1)) throw new Error('broken');
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      stopped.push(true);
    })(new AbortController().signal);

    await expect(collect(outputs)).rejects.toThrow('broken');
    expect(stopped).toEqual([true]);
  });

  it('fails if a page is left out, as a compromised engine could', async () => {
    const outputs = drawPages(ten, 2, async (pages, { onDrawn }) => {
      for (const page of pages) if (page !== 7) onDrawn({ page, path: `/${page}` });
    })(new AbortController().signal);

    await expect(collect(outputs)).rejects.toMatchObject({ code: 'CONVERSION_FAILED' });
  });
});
