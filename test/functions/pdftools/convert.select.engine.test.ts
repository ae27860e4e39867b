import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../functions/pdftools/convert.ts';
import { pdftools } from '../../../functions/pdftools/tool.ts';
import { pdfOf } from '../../fixtures/pdf.ts';
import { useEngine } from '../conversion.ts';

const { convert, convertOne } = useEngine(pdftools, createEngine);

/** Four pages, each with a bookmark, a named destination and links to all pages. */
function linkedPdf(): Buffer {
  const [pages, items] = [
    [3, 4, 5, 6],
    [8, 9, 10, 11],
  ];
  const links = pages
    .map(
      (page, index) =>
        `<</Type/Annot/Subtype/Link/Rect[0 0 9 9]${index % 2 ? `/Dest[${page} 0 R/Fit]` : `/A<</S/GoTo/D(page${index + 1})>>`}>>`,
    )
    .join('');
  const names = pages.map((page, index) => `(page${index + 1})[${page} 0 R/Fit]`).join('');
  return pdfOf([
    `<</Type/Catalog/Pages 2 0 R/Outlines 7 0 R/Names<</Dests<</Names[${names}]>>>>>>`,
    `<</Type/Pages/Count 4/Kids[${pages.map((page) => `${page} 0 R`).join(' ')}]>>`,
    ...pages.map(() => `<</Type/Page/Parent 2 0 R/MediaBox[0 0 90 90]/Annots[${links}]>>`),
    '<</Type/Outlines/First 8 0 R/Last 11 0 R/Count 4>>',
    ...items.map((item, index) => {
      const [previous, next] = [
        index > 0 ? `/Prev ${item - 1} 0 R` : '',
        index < 3 ? `/Next ${item + 1} 0 R` : '',
      ];
      return `<</Title(Page ${index + 1})/Parent 7 0 R/Dest[${pages[index]} 0 R/Fit]${previous}${next}>>`;
    }),
  ]);
}

/** Returns the titles of bookmarks, the names of destinations, and the links of each page that lead to a page. */
async function navigation(pdf: Buffer) {
  const document = await getDocument({ data: new Uint8Array(pdf), verbosity: 0 }).promise;
  const isAlive = async (dest: unknown) => {
    const target =
      typeof dest === 'string' ? await document.getDestination(dest) : (dest as unknown[] | null);
    if (!target) return false;
    return document.getPageIndex(target[0] as never).then(
      () => true,
      () => false,
    );
  };
  const outline = (await document.getOutline()) ?? [];
  const links: number[] = [];
  for (let page = 1; page <= document.numPages; page += 1) {
    const annotations = await (await document.getPage(page)).getAnnotations();
    const destinations = annotations.filter(({ dest }) => dest);
    for (const { dest } of destinations) expect(await isAlive(dest)).toBe(true);
    links.push(destinations.length);
  }
  for (const { dest } of outline) expect(await isAlive(dest)).toBe(true);
  const names = [...((await document.getDestinations()) as Map<string, unknown>).keys()].sort();
  await document.loadingTask.destroy();
  return { titles: outline.map(({ title }) => title), names, links };
}

describe('selected pages', () => {
  it.each([
    ['-pages=3-4', ['Page 3', 'Page 4'], ['page3', 'page4'], [2, 2]],
    ['-f=2 -l=2', ['Page 2'], ['page2'], [1]],
    ['-pages=4,1', ['Page 1', 'Page 4'], ['page1', 'page4'], [2, 2]],
    ['-pages=1 -linearize', ['Page 1'], ['page1'], [1]],
  ])('keep only what leads to them: %s', async (options, titles, names, links) => {
    const pdf = await convertOne(linkedPdf(), { format: 'pdf', options });

    expect(await navigation(pdf)).toEqual({ titles, names, links });
  });

  it('keep only what leads to them in each part', async () => {
    const { files } = await convert(linkedPdf(), { format: 'pdf', delivery: 'paged', options: '-split=3' });

    const parts = await Promise.all(files.map(navigation));
    expect(parts.map(({ titles }) => titles)).toEqual([['Page 1', 'Page 2', 'Page 3'], ['Page 4']]);
  });

  it('keep bookmarks that name pages by index, or lead to other files', async () => {
    const pdf = await convertOne(
      pdfOf([
        '<</Type/Catalog/Pages 2 0 R/Outlines 5 0 R>>',
        '<</Type/Pages/Count 2/Kids[3 0 R 4 0 R]>>',
        '<</Type/Page/Parent 2 0 R/MediaBox[0 0 90 90]>>',
        '<</Type/Page/Parent 2 0 R/MediaBox[0 0 90 90]>>',
        '<</Type/Outlines/First 6 0 R/Last 8 0 R/Count 3>>',
        '<</Title(First)/Parent 5 0 R/Dest[0/Fit]/Next 7 0 R>>',
        '<</Title(Second)/Parent 5 0 R/Dest[1/Fit]/Prev 6 0 R/Next 8 0 R>>',
        '<</Title(Other)/Parent 5 0 R/A<</S/GoToR/F 9 0 R/D[0/Fit]>>/Prev 7 0 R>>',
        '<</Type/Filespec/F(other.pdf)>>',
      ]),
      { format: 'pdf', options: '-pages=2' },
    );

    const document = await getDocument({ data: new Uint8Array(pdf), verbosity: 0 }).promise;
    const outline = (await document.getOutline()) as readonly { title: string; dest: unknown }[];
    const { title, dest } = outline[0]!;
    expect([title, await document.getPageIndex((dest as never[])[0]!)]).toEqual(['Second', 0]);
    expect(outline[1]).toMatchObject({ title: 'Other', unsafeUrl: expect.stringContaining('other.pdf') });
    await document.loadingTask.destroy();
  });
});
