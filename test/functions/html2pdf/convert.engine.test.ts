import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { drawPage } from '../../helpers/pdf.ts';
import { isBlank, pixel } from '../../helpers/pixels.ts';
import { usePages } from '../engines/chromium/use-pages.ts';

/** Tags that a WOFF2 directory represents as numbers. */
const KNOWN = [
  'cmap',
  'head',
  'hhea',
  'hmtx',
  'maxp',
  'name',
  'OS/2',
  'post',
  'cvt ',
  'fpgm',
  'glyf',
  'loca',
  'prep',
  'CFF ',
  'VORG',
  'EBDT',
  'EBLC',
  'gasp',
  'hdmx',
  'kern',
  'LTSH',
  'PCLT',
  'VDMX',
  'vhea',
  'vmtx',
  'BASE',
  'GDEF',
  'GPOS',
  'GSUB',
];

/** Wraps a TrueType font as WOFF2 with untransformed tables (https://www.w3.org/TR/WOFF2/). */
function toWoff2(font: Buffer): Buffer {
  const count = font.readUInt16BE(4);
  const tables = Array.from({ length: count }, (_, index) => {
    const entry = 12 + 16 * index;
    const start = font.readUInt32BE(entry + 8);
    const length = font.readUInt32BE(entry + 12);
    return { tag: font.toString('latin1', entry, entry + 4), data: font.subarray(start, start + length) };
  });
  const directory = Buffer.concat(
    tables.flatMap(({ tag, data }) => {
      const known = KNOWN.indexOf(tag);
      // Transform version 3 means none for these two tables.
      const version = tag === 'glyf' || tag === 'loca' ? 3 : 0;
      const flags = Buffer.from([(version << 6) | (known < 0 ? 63 : known)]);
      return [flags, known < 0 ? Buffer.from(tag, 'latin1') : Buffer.alloc(0), base128(data.length)];
    }),
  );
  const data = brotliCompressSync(Buffer.concat(tables.map((table) => table.data)));
  const header = Buffer.alloc(48);
  const whole = Math.ceil((header.length + directory.length + data.length) / 4) * 4;
  const padded = (length: number) => Math.ceil(length / 4) * 4;
  const unpacked = tables.reduce((sum, table) => sum + padded(table.data.length), 12 + 16 * count);
  header.write('wOF2', 'latin1');
  font.copy(header, 4, 0, 4);
  header.writeUInt32BE(whole, 8);
  header.writeUInt16BE(count, 12);
  header.writeUInt32BE(unpacked, 16);
  header.writeUInt32BE(data.length, 20);
  return Buffer.concat([header, directory, data], whole);
}

function base128(value: number): Buffer {
  const bytes = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift((rest & 0x7f) | 0x80);
  return Buffer.from(bytes);
}

const FACES = fileURLToPath(new URL('../../../dist/layers/fonts/faces/', import.meta.url));
const BLACK = [0, 0, 0, 255];
const WHITE = [255, 255, 255, 255];
const GREEN = [0, 255, 0, 255];

/** Takes long to print. */
const emoji = Array.from({ length: 4000 }, (_, index) => String.fromCodePoint(0x1f300 + (index % 800))).join(
  ' ',
);

const twelve = Array.from(
  { length: 12 },
  (_, index) => `<section style="break-after:page">This is page number ${index + 1}.</section>`,
).join('');

const font = toWoff2(await readFile(`${FACES}LiberationMono-Regular.ttf`));
const { convert, origin, pdf } = await usePages({
  '/': '<!doctype html><title>A page</title><h1>Hello</h1>',
  '/full': '<!doctype html><style>html{background:#000}body{margin:0}</style><p>x</p>',
  '/box': '<!doctype html><body style="margin:0"><div style="background:#0f0;width:96px;height:96px"></div>',
  '/worker':
    '<!doctype html><body style="margin:0"><canvas id=c width=96 height=96></canvas><script>const half=c.transferControlToOffscreen();new Worker(URL.createObjectURL(new Blob([`onmessage=({data})=>{const to=data.getContext("2d");to.fillStyle="#0f0";to.fillRect(0,0,96,96)}`]))).postMessage(half,[half])</script>',
  '/webgl':
    '<!doctype html><body style="margin:0"><canvas id=c width=96 height=96></canvas><script>const gl = c.getContext("webgl"); gl.clearColor(0, 1, 0, 1); gl.clear(gl.COLOR_BUFFER_BIT)</script>',
  '/lazy':
    '<!doctype html><script>document.title = "lazy"</script><p>above</p><div style="height:20000px"></div><img loading=lazy src="/dot.svg" width=96 height=96>',
  '/after-print': `<!doctype html><meta charset=utf-8><script>addEventListener("afterprint", () => setTimeout(() => { last.textContent = "after" }, 1))</script><p style="break-after:page">first</p>${emoji}<p style="break-before:page" id=last>still</p>`,
  '/dot.svg': (_request, response) =>
    void response
      .writeHead(200, { 'content-type': 'image/svg+xml' })
      .end(
        '<svg xmlns="http://www.w3.org/2000/svg" width="96" height="96"><rect width="96" height="96"/></svg>',
      ),
  '/twelve': `<!doctype html><title>Twelve</title><body>${twelve}`,
  '/media':
    '<!doctype html><style>@media print{.s{display:none}}@media screen{.p{display:none}}</style><p class=s>on screen</p><p class=p>on paper</p>',
  '/dark':
    '<!doctype html><style>@media(prefers-color-scheme:dark){p::after{content:"dark"}}</style><p>mode: </p>',
  '/wide': `<!doctype html><style>td{border:1px solid}</style><table><tr>${Array.from({ length: 18 }, (_, index) => `<td>Column${index}</td>`).join('')}</table>`,
  '/tall':
    '<!doctype html><body style="margin:0"><div style="height:3000px">top</div><p style="margin:0">end</p>',
  '/shell':
    '<!doctype html><style>html{height:100%;overflow:hidden}body{height:100%;overflow:auto;margin:0}</style><div style="height:3000px"></div><p>end</p>',
  '/columns': `<!doctype html><style>html{column-count:3}</style>${'<p style="height:40px;margin:0">line</p>'.repeat(90)}`,
  '/script':
    '<!doctype html><p id=p>still</p><script>p.textContent="scripted"</script><noscript>no script</noscript>',
  '/scripts':
    '<!doctype html><p id=p></p><script>const say = (text) => p.append(text + " "); say("now"); setTimeout(say, 150, "soon"); addEventListener("load", () => fetch("/late").then(() => setTimeout(say, 100, "fetched"))); setTimeout(say, 8000, "late")</script>',
  '/late': (_request: unknown, response: ServerResponse) => void setTimeout(() => response.end('x'), 300),
  '/waits':
    '<!doctype html><p id=p>begun</p><script>setTimeout(() => { p.textContent = "done"; p.className = "done"; window.status = "ready"; window.flag = true }, 1200)</script>',
  '/never':
    '<!doctype html><p>here</p><script>setInterval(() => {}, 1); (function f() { requestAnimationFrame(f) })(); (function g() { setTimeout(g, 0) })(); fetch("/hang")</script>',
  '/hang': () => {},
  '/font':
    '<!doctype html><style>@font-face{font-family:Web;src:url(/web.woff2)}span{font:40px Web;background:#0f0}body{margin:0}</style><span>iiiiiiiiii</span>',
  '/web.woff2': (_request: unknown, response: ServerResponse) =>
    void setTimeout(() => response.end(font), 200),
  '/scripture':
    '<!doctype html><meta charset=utf-8><p>漢字かな交じり文 한국어 русский ελληνικά عربي עברית ไทย हिन्दी</p><p style="font-size:60px;margin:0" id=emoji>😀🎉</p>',
  '/moved': '<!doctype html><script>location = "/"</script>',
  '/refresh': '<!doctype html><meta http-equiv=refresh content="0;url=/">',
  '/policy': (_request: unknown, response: ServerResponse) => {
    response.setHeader('content-security-policy', "default-src 'none'");
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><p>text</p>');
  },
  '/added.css': (_request: unknown, response: ServerResponse) =>
    void response.end('p::after { content: " added" }'),
});

const millimeters = (points: number) => Math.round((points / 72) * 25.4);

async function size(query: Record<string, string>) {
  const { pages: all } = await pdf('/', query);
  return [millimeters(all[0]!.width), millimeters(all[0]!.height)];
}

describe('the paper', () => {
  it('is A4 in portrait, with margins of 10 mm and backgrounds up to its edges', async () => {
    const { bytes, pages: all, title } = await pdf('/full');
    const drawn = await drawPage(bytes, 1);
    const box = await drawPage((await pdf('/box')).bytes, 1, 72 / 25.4);

    expect(all).toHaveLength(1);
    expect([millimeters(all[0]!.width), millimeters(all[0]!.height)]).toEqual([210, 297]);
    expect(title).not.toBe('A page');
    expect(await pixel(drawn, 300, 700)).toEqual(BLACK);
    // The box is one inch, 10 mm from the edges.
    const at = (mm: number) => Math.round((mm / 25.4) * 72 * (72 / 25.4));
    expect(await pixel(box, at(9.5), at(20))).toEqual(WHITE);
    expect(await pixel(box, at(10.5), at(10.5))).toEqual(GREEN);
    expect(await pixel(box, at(34.9), at(34.9))).toEqual(GREEN);
    expect(await pixel(box, at(36), at(20))).toEqual(WHITE);
  });

  it('follows the options for size, orientation, width and height', async () => {
    expect(await size({ '--page-size': 'Letter' })).toEqual([216, 279]);
    expect(await size({ '-s': 'a5', '-O': 'Landscape' })).toEqual([210, 148]);
    expect(await size({ '--page-width': '100', '--page-height': '5in' })).toEqual([100, 127]);
    expect(await size({ '-s': 'Ledger' })).toEqual([432, 279]);
  });

  it('is one page as tall as the content if the height is auto', async () => {
    const { pages: all, text } = await pdf('/tall', { '--page-height': 'auto', '-T': '0', '-B': '0' });

    expect(all).toHaveLength(1);
    expect(text).toContain('end');
    expect((all[0]!.height / 72) * 96).toBeGreaterThan(3000);
    expect((all[0]!.height / 72) * 96).toBeLessThan(3050);
  });

  it('is one page even if the page breaks itself, or its body scrolls', async () => {
    const broken = await pdf('/twelve', { '--page-height': 'auto' });
    const shell = await pdf('/shell', { '--page-height': 'auto' });
    const columns = await pdf('/columns', { '--page-height': 'auto' });

    expect([broken, shell, columns].map(({ pages: all }) => all.length)).toEqual([1, 1, 1]);
    expect(broken.text).toContain('page number 12');
    expect((broken.pages[0]!.height / 72) * 96).toBeLessThan(700);
    expect(shell.text).toContain('end');
    expect((columns.pages[0]!.height / 72) * 96).toBeLessThan(1500);
  });

  it('needs space between its margins', async () => {
    const refused = pdf('/', { '--margin-left': '200' });

    await expect(refused).rejects.toMatchObject({
      code: 'BAD_PARAMETER',
      message:
        "Parameters '--margin-left' (200 mm) and '--margin-right' (10 mm) must leave at least 5 mm of the paper's width of 210 mm.",
    });
  });

  it('has no backgrounds on request, and the given margins', async () => {
    const plain = await drawPage((await pdf('/full', { '--no-background': '' })).bytes, 1);
    const close = await drawPage((await pdf('/box', { '-T': '0', '-L': '0' })).bytes, 1);

    expect(await pixel(plain, 300, 700)).toEqual(WHITE);
    expect(await pixel(close, 1, 1)).toEqual(GREEN);
  });
});

describe('the pages', () => {
  it('are complete and counted', async () => {
    const { pageCount, pages: all, title } = await pdf('/twelve');

    expect([pageCount, all.length, title]).toEqual([12, 12, 'Twelve']);
    expect(all.map(({ text }) => text)).toEqual(all.map((_, index) => `This is page number ${index + 1}.`));
  });

  it('include lazy images far below the window of a page with scripts', async () => {
    const { bytes, pages: all } = await pdf('/lazy');

    expect(all.length).toBeGreaterThan(19);
    expect(await isBlank(await drawPage(bytes, all.length))).toBe(false);
  });

  it('do not change between two long prints, because the clock of the page stays stopped', async () => {
    const { pages: all } = await pdf('/after-print', { '--page-ranges': '!1' });

    expect(all.at(-1)!.text).toBe('still');
  });

  it.for([
    [{ '--page-ranges': '2,4-5' }, [2, 4, 5]],
    [{ '--page-ranges': '!1' }, [12]],
    [{ '-f': '11', '-l': '99' }, [11, 12]],
  ] as const)('are selected by %s', async ([query, wanted]) => {
    const { pageCount, pages: all } = await pdf('/twelve', query);

    expect(all.map(({ text }) => Number(/\d+/.exec(text)![0]))).toEqual(wanted);
    expect(pageCount).toBe(12);
  });

  it('must exist to be selected', async () => {
    await expect(pdf('/twelve', { '-f': '13' })).rejects.toMatchObject({
      code: 'PAGE_RANGE',
      message: "Parameter '-f' selects only pages that do not exist. The document has 12 pages.",
    });
  });

  it('are limited in number', async () => {
    const refused = convert('html2pdf', '/twelve', {}, { limits: { pages: 5 } });

    await expect(refused).rejects.toMatchObject({ code: 'RESULT_TOO_LARGE' });
  });

  it('have headers and footers with page numbers', async () => {
    const { pages: all, bytes } = await pdf('/twelve', {
      '--header-left': '[title] <b>',
      '--header-right': '[page]/[topage] & [isodate]',
      '--header-line': '',
      '--footer-center': 'see [webpage]',
      '--margin-top': '25',
      '--margin-bottom': '20',
      '--header-spacing': '3',
    });

    const today = new Date().toISOString().slice(0, 10);
    expect(all).toHaveLength(12);
    expect(all[6]!.text).toContain('Twelve <b>');
    expect(all[6]!.text).toContain(`7/12 & ${today}`);
    expect(all[6]!.text).toContain(`see ${origin}/twelve`);
    // Each is in its margin, next to the content: 25 and 20 mm of 297.
    const drawn = sharp(await drawPage(bytes, 7, 297 / 842));
    const strip = async (top: number, height: number) =>
      isBlank(await drawn.clone().extract({ left: 0, top, width: 209, height }).toBuffer());
    expect([
      await strip(0, 12),
      await strip(12, 12),
      await strip(24, 250),
      await strip(278, 8),
      await strip(287, 9),
    ]).toEqual([true, false, false, false, true]);
  });

  it('have the requested title', async () => {
    const { title } = await pdf('/', { '--title': 'My "own" title' });

    expect(title).toBe('My "own" title');
  });

  it('contain the whole of a table that is wider than the paper', async () => {
    const whole = await pdf('/wide', { '--viewport-size': '1600x1000' });

    expect(whole.text).toContain('Column17');
    expect((await pdf('/wide')).text).toContain('Column13');
    expect(await isBlank(await drawPage(whole.bytes, 1))).toBe(false);
  });
});

describe('the look', () => {
  it('is that of screen or print media', async () => {
    expect((await pdf('/media')).text).toBe('on screen');
    expect((await pdf('/media', { '--print-media-type': '' })).text).toBe('on paper');
    expect((await pdf('/dark', { '--media-features': ['prefers-color-scheme:dark'] })).text).toContain(
      'dark',
    );
  });

  it('includes fonts that load late', async () => {
    const { bytes } = await pdf('/font');
    const drawn = await drawPage(bytes, 1, 96 / 72);

    // Ten letters of a fixed 0.6 em at 40 px are 240 px; in the fallback face they are half of that.
    expect(await pixel(drawn, 38 + 230, 60)).toEqual(GREEN);
    expect(await pixel(drawn, 38 + 250, 60)).toEqual(WHITE);
  });

  it('supports every writing system, and emoji in color', async () => {
    const { bytes, text } = await pdf('/scripture');
    const drawn = await drawPage(bytes, 1, 2);
    const emoji = await sharp(drawn).extract({ left: 60, top: 130, width: 220, height: 120 }).toBuffer();
    const { channels } = await sharp(emoji).stats();

    for (const word of ['漢字', '한국어', 'русский', 'ελληνικά']) expect(text).toContain(word);
    // A grinning face is yellow: much more red than blue.
    expect(channels[0]!.mean - channels[2]!.mean).toBeGreaterThan(15);
  });

  it('is gray and zoomed on request', async () => {
    const gray = await drawPage((await pdf('/box', { '-g': '' })).bytes, 1);
    const double = await drawPage((await pdf('/box', { '--zoom': '2' })).bytes, 1);

    const [red, green, blue] = await pixel(gray, 50, 50);
    expect([red, green]).toEqual([green, blue]);
    expect(await pixel(double, 28 + 140, 28 + 140)).toEqual(GREEN);
  });

  it('includes what a worker draws', async () => {
    const picture = await drawPage((await pdf('/worker')).bytes, 1);

    const [red, green] = await pixel(picture, 28 + 30, 28 + 30);
    expect(red).toBeLessThan(50);
    expect(green).toBeGreaterThan(200);
  });

  it('includes what WebGL has drawn once', async () => {
    const picture = await drawPage((await pdf('/webgl')).bytes, 1);

    const [red, green] = await pixel(picture, 28 + 30, 28 + 30);
    expect(red).toBeLessThan(50);
    expect(green).toBeGreaterThan(200);
  });

  it('applies style sheets of the caller, regardless of what the page allows', async () => {
    expect((await pdf('/policy', { '--user-style-sheet': 'p::after{content:" given"}' })).text).toBe(
      'text given',
    );
    expect((await pdf('/policy', { '--user-style-sheet': `${origin}/added.css` })).text).toBe('text added');
  });

  it('blames the option for a cover that cannot be loaded', async () => {
    await expect(pdf('/policy', { '--cover': `${origin}/missing` })).rejects.toMatchObject({
      code: 'SOURCE_STATUS',
      parameter: '--cover',
      message: expect.stringMatching(/^The page for '--cover' could not be loaded\..* 404/),
    });
  });

  it('blames the option for a style sheet that cannot be loaded', async () => {
    const options = { '--user-style-sheet': `${origin}/missing.css` };

    await expect(pdf('/policy', options)).rejects.toMatchObject({
      code: 'SOURCE_STATUS',
      parameter: '--user-style-sheet',
      message: expect.stringMatching(/^The file for '--user-style-sheet' could not be loaded\..* 404/),
    });
  });
});

describe('the wait', () => {
  it('includes early actions of scripts but not late ones', async () => {
    const { text } = await pdf('/scripts');

    expect(text.split(' ').sort()).toEqual(['fetched', 'now', 'soon']);
  });

  it.for([
    {},
    { '--javascript-delay': '1500' },
    { '--window-status': 'ready' },
    { '--wait-for-selector': 'p.done' },
    { '--wait-for-expression': 'true, window.flag === true' },
  ])('is as long as %j specifies', async (query) => {
    const { text } = await pdf('/waits', query, { limits: { settleTime: 500 } });

    expect(text).toBe(Object.keys(query).length === 0 ? 'begun' : 'done');
  });

  it('ends even if a page never becomes idle', async () => {
    expect((await pdf('/never', {}, { limits: { settleTime: 1000 } })).text).toBe('here');
  });

  it('follows a page that navigates to another one', async () => {
    expect((await pdf('/moved')).text).toBe('Hello');
    expect((await pdf('/refresh')).text).toBe('Hello');
  });

  it('runs no scripts if they are disabled', async () => {
    expect((await pdf('/script')).text).toBe('scripted');
    expect((await pdf('/script', { '-n': '' })).text).toBe('still no script');
  });
});
