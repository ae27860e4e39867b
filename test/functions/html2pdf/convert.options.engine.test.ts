import { readFile } from 'node:fs/promises';
import { getDocument, PermissionFlag } from 'pdfjs-dist/legacy/build/pdf.mjs';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { drawPage, permissionsOf, readPdf } from '../../helpers/pdf.ts';
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
  '/twice': '<!doctype html><p>twice',
  '/lines': `<!doctype html><h1>First<br>line</h1><h2>Text<div>block</div></h2>
      <h2 style="display:flex;gap:9px"><b>One</b><b>two</b></h2><h2>co<wbr>herent <i>words</i></h2>
      <style>.narrow{width:2em}</style><h2></h2><h2 class=narrow>state-of-the-art ma&shy;chines</h2>
      <h2 class=narrow dir=rtl>&#x5e8;&#x5d0;&#x5e9;&#x5d5;&#x5df; &#x5e9;&#x5e0;&#x5d9;</h2><p class=narrow role=heading>a role</p>`,
  '/deep/logo.html':
    '<!doctype html><html><head><link rel=stylesheet href="../deep/style.css"></head><body><img src="logo.svg" alt=""><b></b>',
  '/deep/other.html':
    '<!doctype html><style>@import "style.css"; @page { margin: 50px } div { padding: 30px }</style><img srcset="logo.svg 1x,no.svg 9x" alt=""><b></b>',
  '/deep/logo.svg': (_, response) =>
    response
      .setHeader('content-type', 'image/svg+xml')
      .end(
        "<svg xmlns='http://www.w3.org/2000/svg' width='40' height='40'><rect width='40' height='40' fill='green'/></svg>",
      ),
  '/deep/style.css': (_, response) =>
    response
      .setHeader('content-type', 'text/css')
      .end(
        'body { margin: 90px; background: red } b { position: absolute; top: 0; left: 150px; width: 200px; height: 40px; background: blue }',
      ),
  '/polish': (_, response) =>
    response
      .setHeader('content-type', 'text/html')
      .end(Buffer.from('<!doctype html><p>\xa3\xf3d\xbc', 'latin1')),
  '/declared': (_, response) =>
    response.setHeader('content-type', 'text/html').end('<!doctype html><meta charset=utf-8><p>Łódź'),
  '/attached': (_, response) => {
    response.setHeader('content-type', 'text/html').setHeader('content-disposition', 'attachment');
    response.end('<!doctype html><p>Łódź');
  },
  '/pages': '<!doctype html><p style="break-after:page">text'.repeat(110),
  '/long.html': `<img src="/logo.svg"><!--${'x'.repeat(950_000)}-->`,
  '/private': ({ headers }, response) =>
    response
      .setHeader('content-type', 'text/html')
      .end(`<!doctype html><script>navigator.sendBeacon('http://${headers.host}/sent')</script>`),
  '/late': SCRIPTED('setTimeout(() => {}, 100)'),
});

const CUT = 'A header or footer is too long for one line and was cut.';

/** Returns the lines of the first page with their heights above its bottom, in points. */
async function textsOf(bytes: Buffer): Promise<{ str: string; y: number }[]> {
  const document = await getDocument({ data: new Uint8Array(bytes), verbosity: 0 }).promise;
  const { items } = await (await document.getPage(1)).getTextContent();
  await document.loadingTask.destroy();
  return items.flatMap((item) =>
    'str' in item && item.str.trim() ? [{ str: item.str.trim(), y: Math.round(item.transform[5]) }] : [],
  );
}

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

  it('separates the lines of a heading in its bookmark', async () => {
    const { titles } = await inside((await pdf('/lines')).bytes);

    expect(titles).toEqual([
      ...['First line', 'Text block', 'One two', 'coherent words'],
      ...['state-of-the-art machines', 'ראשון שני', 'a role'],
    ]);
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

describe('an encoding', () => {
  it.each([
    ['/polish', 'iso-8859-2', 'Łódź'],
    ['/declared', 'windows-1252', 'Łódź'],
    ['/attached', 'utf-8', 'Łódź'],
  ])('is that of a page that declares none: %s in %s', async (page, encoding, expected) => {
    expect((await pdf(page, { '--encoding': encoding })).text).toBe(expected);
  });

  it('is that of an upload that declares none', async () => {
    const files = [{ path: 'page.html', url: `${origin}/polish` }];

    expect((await pdf('/polish', { '--encoding': 'iso-8859-2' }, { files })).text).toBe('Łódź');
  });
});

describe('headers and footers', () => {
  it('are HTML or its URL, without scripts', async () => {
    const { text, warnings } = await pdf('/document', {
      '--header-html': `${origin}/header.html`,
      '--footer-html': '<i>Page <span class="pageNumber"></span></i>',
    });

    expect(text).toMatch(/Head 11/);
    expect(text).toMatch(/Page 1/);
    expect(text).not.toContain('scripted');
    expect(asked.map(({ url }) => url)).toContain('/seen.png');
    expect(warnings).toEqual(['A picture or style sheet of a header or footer could not be loaded.']);
  });

  it.each([
    ['/document', 'logo.html'],
    ['upload', 'logo.html'],
    ['/document', 'other.html'],
  ])('load pictures and style sheets relative to their URL: %s, %s', async (page, name) => {
    const files = page === 'upload' ? [{ path: 'page.html', url: `${origin}/document` }] : undefined;
    const query = {
      '--header-html': `${origin}/deep/${name}`,
      '--footer-html': '<i>plain</i>',
      '-T': '20',
    };
    const { bytes, warnings } = await pdf('/document', query, { files });

    const { data, info } = await sharp(await drawPage(bytes, 1, 1))
      .raw()
      .toBuffer({ resolveWithObject: true });
    const colorAt = (x: number, y: number) =>
      [...data.subarray((y * info.width + x) * info.channels)].slice(0, 3);
    expect(colorAt(33, 5)).toEqual([0, 128, 0]);
    expect(colorAt(200, 5)).toEqual([0, 0, 255]);
    expect(warnings).toEqual([]);
  });

  it.each([
    ['3', 1],
    ['10', 0],
  ])('are said to be higher than a margin of %s mm', async (margin, count) => {
    const { warnings } = await pdf('/twice', { '--header-center': 'text', '-T': margin });

    expect(warnings!.filter((warning) => warning.includes('higher than its margin'))).toHaveLength(count);
  });

  it('do not let an uploaded page send anything to their host', async () => {
    const files = [{ path: 'page.html', url: `${origin}/private` }];
    const urls = {
      '--header-html': `${origin}/deep/logo.html`,
      '--user-style-sheet': `${origin}/deep/style.css`,
    };
    const { warnings } = await pdf('/private', urls, { files });

    expect(warnings).toEqual([]);
    expect(asked.map(({ url }) => url)).toContain('/deep/logo.svg');
    expect(asked.map(({ url }) => url)).not.toContain('/sent');
  });

  it('have a limit if each page has its own', async () => {
    const printed = pdf('/pages', { '--header-html': `${origin}/long.html` });

    await expect(printed).rejects.toMatchObject({ code: 'SOURCE_TOO_LARGE' });
  });

  it.each([
    [{ '--footer-center': `${'A sentence that is long. '.repeat(4)}End` }, 1, []],
    [
      { '--footer-left': `${'A sentence. '.repeat(6)}End`, '--footer-right': `${'More. '.repeat(9)}End` },
      2,
      [],
    ],
    [{ '--footer-center': `${'A sentence. '.repeat(9)}[section] End`, '--page-offset': '1' }, 1, []],
    [{ '--footer-center': `${'A sentence that is long. '.repeat(19)}End` }, 0, [CUT]],
  ])('are one line, however long: %j', async (query, count, expected) => {
    const { bytes, warnings } = await pdf('/twice', query);

    const ends = (await textsOf(bytes)).filter(({ str }) => /End$/.test(str));
    expect(ends).toHaveLength(count);
    expect(new Set((await textsOf(bytes)).filter(({ y }) => y < 60).map(({ y }) => y)).size).toBe(1);
    expect(warnings).toEqual(expected);
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
