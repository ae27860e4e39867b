import { fileURLToPath } from 'node:url';
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { afterAll, describe, expect, it } from 'vitest';
import { drawPage, readPdf } from '../../helpers/pdf.ts';
import { startChromium } from '../../likeness/chromium.ts';
import { differingPixels } from '../../likeness/comparison.ts';
import { usePages } from '../engines/chromium/use-pages.ts';

/** Rows that make a table huge. */
const ROWS = 2100;

const rows = (count: number, write: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => `<tr>${write(index)}</tr>`).join('');
const table = (style: string, body: string, attributes = '') =>
  `<!doctype html><style>${style}</style><h1>Table</h1><table ${attributes}><thead><tr><th>Number<th colspan=2>Text</thead>${body}</table><p>After`;
const plain = (index: number) =>
  `<td>${index}<td>Text ${index % 7 === 0 ? 'that is longer '.repeat(9) : ''}<td>${index * 7}`;

const TABLES = {
  collapsed: table(
    'table { border-collapse: collapse; width: 100% } td, th { border: 1px solid #888; padding: 3px } tr:nth-child(7n) { background: #ccf } tr:last-child td { color: red }',
    `<tbody>${rows(ROWS, plain)}</tbody>`,
  ),
  separate: table(
    'table { border: 3px solid green; border-spacing: 4px 0; margin: 20px auto; background: #efe } td { background: #fff; vertical-align: top } tbody td:first-child { font-weight: bold }',
    `<tfoot><tr><td>Foot<td><td></tfoot><tbody>${rows(ROWS, plain)}</tbody>`,
  ),
  counted: table(
    'tbody { counter-reset: row } tbody tr { counter-increment: row } tbody td:first-child::before { content: counter(row) ". " } tr + tr td { border-top: 1px solid red }',
    `<caption>Caption</caption><tbody>${rows(ROWS / 2, plain)}</tbody><tbody class=b>${rows(ROWS / 2, plain)}</tbody>`,
  ),
  joined: table(
    'table { border-collapse: collapse } td { border: 2px solid blue }',
    `<tbody>${rows(ROWS, (index) => `${index % 7 === 0 ? `<td rowspan=7>Group ${index}` : ''}<td>a ${index}<td>b`)}</tbody>`,
    'width=80% id=t',
  ),
};

const site = await usePages({
  ...Object.fromEntries(Object.entries(TABLES).map(([name, html]) => [`/${name}`, html])),
  '/immense': table('td { border: 1px solid }', `<tbody>${rows(20_000, plain)}</tbody>`),
});
const chromium = await startChromium(fileURLToPath(new URL('../../../dist/layers', import.meta.url)));
afterAll(() => chromium.close());

/** Returns the texts of a page and where they begin, in points. */
async function textPlaces(bytes: Buffer, page: number) {
  const document = await getDocument({ data: new Uint8Array(bytes), verbosity: 0 }).promise;
  const { items } = await (await document.getPage(page)).getTextContent();
  await document.loadingTask.destroy();
  return items.flatMap((item) =>
    'str' in item && item.str.trim() ? [{ text: item.str, x: item.transform[4], y: item.transform[5] }] : [],
  );
}

describe('a huge table looks as it does in Chromium:', () => {
  it.for(Object.keys(TABLES))('%s', async (name) => {
    const { bytes: ours, pages } = await site.pdf(`/${name}`);
    // The same rule that makes headers repeat on a screen.
    const theirs = await chromium.pdf(`${site.origin}/${name}`, {
      css: '@layer { thead, tfoot { break-inside: avoid } }',
    });

    expect(pages.map(({ text }) => text)).toEqual((await readPdf(theirs)).pages.map(({ text }) => text));
    const last = pages.length;
    for (const page of [1, 2, 5, Math.ceil(last / 2), last - 1, last]) {
      const [left, right] = [await textPlaces(ours, page), await textPlaces(theirs, page)];
      for (const [index, { text, x, y }] of right.entries()) {
        expect(left[index]!.text).toBe(text);
        // It is at the bottom of the page, and not below the last row that fits.
        if (text === 'Foot') continue;
        // Columns are rounded to pixels differently.
        expect(Math.hypot(left[index]!.x - x, left[index]!.y - y), text).toBeLessThan(1.5);
      }
      const difference = await differingPixels(await drawPage(ours, page), await drawPage(theirs, page));
      expect(difference, `page ${page}`).toBeLessThan(0.06);
    }
  });
});

it('converts a table of 20,000 rows', { timeout: 300_000 }, async () => {
  const { pages: read } = await site.pdf('/immense', {}, { time: 280_000 });

  expect(read.length).toBeGreaterThan(300);
  expect(read.at(-1)!.text).toContain('19999');
  expect(read[200]!.text).toMatch(/^Number Text/);
});
