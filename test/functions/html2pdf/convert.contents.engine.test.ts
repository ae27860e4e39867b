import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { afterAll, describe, expect, it } from 'vitest';
import { drawPage } from '../../helpers/pdf.ts';
import { pixel } from '../../helpers/pixels.ts';
import { servePages } from '../engines/chromium/page-server.ts';
import { type Query, usePages } from '../engines/chromium/use-pages.ts';

const chapter = (number: number) =>
  `<h1 style="break-before:page">Chapter ${number}</h1><p>text</p><h2 id="größe ${number}">Part ${number}.1</h2><p>more</p>`;

const other = await servePages({ '/': '<!doctype html><p>cover' });
afterAll(() => other.close());
const site = await usePages(
  {
    '/book': `<!doctype html><meta charset=utf-8><base href="http://elsewhere.example/"><title>A (book)</title>
      <style>body { display: flex; flex-direction: column } * { color: red !important }</style>
      <p>Preface</p>${chapter(1)}${chapter(2)}<p style="break-before:page">goes on</p>${chapter(3)}`,
    '/dark': '<!doctype html><body style="background:#003;color:white"><h1>Night</h1>',
    '/cover': '<!doctype html><title>Cover</title><h1>The cover</h1>',
  },
  [other],
);

async function pdf(query: Query) {
  const { pages, ...read } = await site.pdf('/book', query);
  return { ...read, texts: pages.map(({ text }) => text) };
}

/** Returns for each link of the first page the page, from 1, that it leads to. */
async function linkedPages(bytes: Buffer): Promise<number[]> {
  const document = await getDocument({ data: new Uint8Array(bytes), verbosity: 0 }).promise;
  const annotations = (await (await document.getPage(1)).getAnnotations()) as ReadonlyArray<{
    dest?: string;
  }>;
  const found = [];
  for (const { dest } of annotations) {
    const [page] = (await document.getDestination(dest!))!;
    found.push(1 + (await document.getPageIndex(page)));
  }
  await document.loadingTask.destroy();
  return found;
}

describe('a table of contents', () => {
  it('lists the headings with their pages, and links to them', async () => {
    const { bytes, texts } = await pdf({ '--toc': '', '--toc-header-text': 'Inhalt' });

    expect(texts).toHaveLength(6);
    expect(texts[0]).toBe('Inhalt Chapter 1 3 Part 1.1 3 Chapter 2 4 Part 2.1 4 Chapter 3 6 Part 3.1 6');
    expect(texts[1]).toBe('Preface');
    expect(await linkedPages(bytes)).toEqual([3, 3, 4, 4, 6, 6]);
  });

  it('is on white pages, whatever the background', async () => {
    const { bytes } = await site.pdf('/dark', { '--toc': '' });
    const [contents, page] = await Promise.all([drawPage(bytes, 1), drawPage(bytes, 2)]);

    for (const y of [100, 500, 800]) expect(await pixel(contents, 100, y)).toEqual([255, 255, 255, 255]);
    expect(await pixel(page, 100, 500)).toEqual([0, 0, 51, 255]);
  });

  it('goes as deep as the bookmarks, without links on request', async () => {
    const { bytes, texts } = await pdf({ '--toc': '', '--outline-depth': '1', '--disable-toc-links': '' });

    expect(texts[0]).toBe('Table of Contents Chapter 1 3 Chapter 2 4 Chapter 3 6');
    expect(await linkedPages(bytes)).toEqual([]);
  });
});

describe('a cover', () => {
  it('comes first, without header, footer and page number', async () => {
    const { texts, pageCount } = await pdf({
      '--cover': `${site.origin}/cover`,
      '--footer-center': '[page]/[topage]',
      '--toc': '',
    });

    expect(pageCount).toBe(7);
    expect(texts[0]).toBe('The cover');
    expect(texts[1]).toMatch(/^Table of Contents .* 1\/6$/);
    expect(texts[6]).toMatch(/6\/6$/);
  });

  it('is fetched through the guard, and must be a page', async () => {
    await expect(pdf({ '--cover': 'http://169.254.169.254/' })).rejects.toMatchObject({
      code: 'BLOCKED_ADDRESS',
    });
    await expect(pdf({ '--cover': `${site.origin}/nothing` })).rejects.toMatchObject({
      code: 'SOURCE_STATUS',
    });
    await expect(pdf({ '--cover': 'file:///etc/passwd' })).rejects.toMatchObject({ code: 'BAD_PARAMETER' });
  });

  it('gets no password, header or cookie of another origin', async () => {
    const secrets = { '--username': 'u', '--cookie': 'a:b', '--custom-header': 'X-Secret:1' };
    await pdf({ ...secrets, '--cover': other.origin });

    const [{ headers }] = other.asked as [(typeof other.asked)[number]];
    expect(headers).not.toHaveProperty('x-secret');
    expect(headers).not.toHaveProperty('cookie');
    expect(headers).not.toHaveProperty('authorization');
  });
});

describe('page numbers', () => {
  it('begin at an offset', async () => {
    const { texts } = await pdf({
      '--page-offset': '10',
      '--footer-right': '[page] of [topage]',
      '-f': '2',
      '-l': '3',
    });

    expect(texts).toHaveLength(2);
    expect(texts[0]).toContain('Chapter 1');
    expect(texts[0]).toMatch(/12 of 15$/);
    expect(texts[1]).toMatch(/13 of 15$/);
  });

  it('count from the offset in the table of contents and in HTML footers', async () => {
    const { texts } = await pdf({
      '--page-offset': '-1',
      '--toc': '',
      '--footer-html': '<b>No. <span class="page"></span></b>',
    });

    expect(texts[0]).toContain('Chapter 1 2 Part 1.1 2');
    expect(texts[2]).toMatch(/No\. 2$/);
  });
});

describe('a header', () => {
  it('names the section and the subsection of each page', async () => {
    const { texts } = await pdf({
      '--header-left': '[section] / [subsection] / [title]',
      '--no-outline': '',
    });

    expect(texts[0]).toContain('/ / A (book)');
    expect(texts[1]).toContain('Chapter 1 / Part 1.1 / A (book)');
    expect(texts[3]).toContain('Chapter 2 / Part 2.1 / A (book)');
    expect(texts[3]).toContain('goes on');
    expect(texts[4]).toContain('Chapter 3 / Part 3.1 / A (book)');
  });

  it('loads pictures, but does not run scripts or change the page if it is printed separately', async () => {
    site.asked.length = 0;
    const { texts } = await pdf({
      '--header-html': `<i class=section></i><script>document.body.textContent = "scripted"</script><img src="${site.origin}/seen.png" onerror="document.body.textContent = 'ran'">`,
    });

    expect(texts).toHaveLength(5);
    expect(texts.join()).not.toMatch(/scripted|ran/);
    expect(site.asked.map(({ url }) => url)).toContain('/seen.png');
  });
});
