import { readFile } from 'node:fs/promises';
import { getDocument, PermissionFlag } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { describe, expect, it } from 'vitest';
import { permissionsOf, readPdf } from '../../helpers/pdf.ts';
import { usePages } from '../engines/chromium/use-pages.ts';

const SCRIPTED = (script: string) => `<!doctype html><p id=p>unchanged</p><script>${script}</script>`;

const { asked, convert, origin, pdf } = await usePages({
  '/document': `<!doctype html><html lang=de><title>Titel</title><h1>One</h1><h2>Two</h2><h3>Three</h3>
      <p id=there>Text <a href="https://example.com/">away</a> <a href="#there">here</a></p>
      <img alt="A picture" width=20 height=20 src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7">`,
  '/shadow': `<!doctype html><div><template shadowrootmode=open><h1>One</h1><h2>Two</h2>
      <a href="https://example.com/">away</a></template></div>`,
  '/where': SCRIPTED(
    'p.textContent = [navigator.language, new Date(0).getHours(), (1234.5).toLocaleString()].join(" ")',
  ),
  '/throws': SCRIPTED('null.x'),
  '/broken': '<!doctype html><p>page</p><img src="/nothing">',
  '/advert': '<!doctype html><p>text</p><div class=advert style="display:block">buy</div><aside>more</aside>',
  '/header.html':
    '<!doctype html><style>b{color:red}</style><b>Head <span class=page></span><span class="topage"></span></b><script>document.write("scripted")</script><img src="/seen.png">',
  '/ja': '<!doctype html><html lang=ja><meta charset=utf-8><p>直骨令</p>',
  '/zh': '<!doctype html><html lang=zh><meta charset=utf-8><p>直骨令</p>',
  '/filtered': `<!doctype html><p>plain</p><p style="filter:blur(1px)">blurred</p>
      <div style="filter:drop-shadow(0 0 3px #888)"><b style="visibility:hidden">hidden</b> shadowed <a href="https://example.com/">link</a></div>`,
  '/late': SCRIPTED('setTimeout(() => {}, 100)'),
});

async function inside(bytes: Buffer, password = '') {
  const document = await getDocument({ data: new Uint8Array(bytes), verbosity: 0, password }).promise;
  const outline = JSON.stringify((await document.getOutline()) ?? []);
  const tree = JSON.stringify(await (await document.getPage(1)).getStructTree());
  const { info: read } = await document.getMetadata();
  const info: Readonly<Record<string, unknown>> = Object.fromEntries(Object.entries(read));
  const language = info.Language;
  await document.loadingTask.destroy();
  return {
    titles: [...outline.matchAll(/"title":"(.*?)"/g)].map(([, title]) => title),
    tree,
    info,
    language,
  };
}

describe('a PDF', () => {
  it.each([
    ['/ja', 'MotoyaLCedar'],
    ['/zh', 'WenQuanYi'],
  ])('draws the ideographs of %s in the forms of its language', async (path, face) => {
    const { bytes } = await pdf(path);

    expect(bytes.toString('latin1')).toMatch(new RegExp(`/FontName /\\w+\\+${face}`));
  });

  it('has bookmarks, structure, language and alternative texts', async () => {
    const { bytes } = await pdf('/document');
    const { titles, tree, language } = await inside(bytes);

    expect(titles).toEqual(['One', 'Two', 'Three']);
    expect(tree).toContain('"role":"H1"');
    expect(tree).toContain('"alt":"A picture"');
    expect(language).toBe('de');
  });

  it('contains text with a filter, which is drawn as a picture, once', async () => {
    const { text } = await pdf('/filtered');

    for (const word of ['plain', 'blurred', 'shadowed', 'link']) expect(text.split(word)).toHaveLength(2);
    expect(text).not.toContain('hidden');
  });

  it('omits them on request', async () => {
    const bare = await inside((await pdf('/document', { '--no-outline': '', '--no-tagged': '' })).bytes);

    expect(bare.titles).toEqual([]);
    expect(bare.tree).toBe('null');
    expect((await inside((await pdf('/document', { '--outline-depth': '2' })).bytes)).titles).toEqual([
      'One',
      'Two',
    ]);
  });

  it('has links unless they are disabled', async () => {
    const links = async (query: Record<string, string>) => {
      const { bytes } = await pdf('/document', query);
      const text = bytes.toString('latin1');
      return [/\/URI \(https:\/\/example/.test(text), /\/Subtype \/Link.*?\/(Dest|GoTo)/s.test(text)];
    };

    expect((await links({}))[0]).toBe(true);
    expect((await links({ '--disable-external-links': '' }))[0]).toBe(false);
    expect((await pdf('/document', { '--disable-external-links': '' })).text).toContain('away here');
  });

  it('has the given bookmarks and links of shadow trees', async () => {
    const { bytes } = await pdf('/shadow', { '--outline-depth': '1', '--disable-external-links': '' });

    expect((await inside(bytes)).titles).toEqual(['One']);
    expect(bytes.toString('latin1')).not.toContain('/URI (https://example');
  });

  it('is encrypted with the given permissions', async () => {
    const { path } = await convert('html2pdf', '/document', {
      '--encrypt': 'open',
      '--allow-print': 'none',
      '--metadata': ['Author:Ann', 'Keywords:a, b'],
    });
    const bytes = await readFile(path);

    // AES with 256 bits.
    expect(bytes.toString('latin1')).toMatch(/\/CFM \/AESV3/);
    expect(await permissionsOf(bytes, 'open')).not.toContain(PermissionFlag.PRINT);
    const { info } = await inside(bytes, 'open');
    expect(info).toMatchObject({ Author: 'Ann', Keywords: 'a, b', Title: 'Titel' });
    await expect(readPdf(bytes)).rejects.toThrow();
  });
});

describe('headers and footers', () => {
  it('are HTML or its URL, without scripts and requests', async () => {
    const { text } = await pdf('/document', {
      '--header-html': `${origin}/header.html`,
      '--footer-html': '<i>Page <span class="pageNumber"></span></i>',
    });

    expect(text).toMatch(/Head 11/);
    expect(text).toMatch(/Page 1/);
    expect(text).not.toContain('scripted');
    expect(asked.map(({ url }) => url)).not.toContain('/seen.png');
  });

  it('are downloaded through the guard', async () => {
    await expect(pdf('/document', { '--header-html': 'http://169.254.169.254/' })).rejects.toMatchObject({
      code: 'BLOCKED_ADDRESS',
    });
  });

  it('use the time zone, the language and the placeholders of the caller', async () => {
    const { text } = await pdf('/document', {
      '--header-left': '[date] [who]',
      '--locale': 'de-DE',
      '--replace': 'who,Ann',
    });

    expect(text).toMatch(/\d+\.\d+\.20\d\d Ann/);
  });
});

describe('a page', () => {
  it('gets the language and time zone of the caller', async () => {
    asked.length = 0;
    expect((await pdf('/where')).text).toBe('en-US 0 1,234.5');
    const { text } = await pdf('/where', { '--locale': 'de-DE', '--timezone': 'Asia/Tokyo' });

    expect(text).toBe('de-DE 9 1.234,5');
    expect(asked.at(-1)!.headers['accept-language']).toMatch(/^de-DE/);
  });

  it('is an error if its scripts throw, on request', async () => {
    expect((await pdf('/throws')).text).toBe('unchanged');
    await expect(pdf('/throws', { '--fail-on-console-exception': '' })).rejects.toMatchObject({
      code: 'CONVERSION_FAILED',
      message: expect.stringContaining('TypeError'),
    });
    expect((await pdf('/late', { '--fail-on-console-exception': '' })).text).toBe('unchanged');
  });

  it('is an error if a resource has one of the given statuses', async () => {
    expect((await pdf('/broken', { '--fail-on-status': '5xx,403' })).text).toBe('page');
    await expect(pdf('/broken', { '--fail-on-status': '4xx' })).rejects.toMatchObject({
      code: 'SOURCE_STATUS',
    });
  });

  it('is printed without hidden elements', async () => {
    expect((await pdf('/advert', { '--hide': ['.advert', 'aside'] })).text).toBe('text');
    await expect(pdf('/advert', { '--hide': '..' })).rejects.toMatchObject({ code: 'BAD_PARAMETER' });
  });

  it('rejects an invalid expression to wait for', async () => {
    await expect(pdf('/advert', { '--wait-for-expression': 'a b' })).rejects.toMatchObject({
      code: 'BAD_PARAMETER',
    });
    await expect(pdf('/advert', { '--wait-for-selector': '..' })).rejects.toMatchObject({
      code: 'BAD_PARAMETER',
    });
  });
});
