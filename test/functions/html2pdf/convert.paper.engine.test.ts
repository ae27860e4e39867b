import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { drawPage } from '../../helpers/pdf.ts';
import { pixel } from '../../helpers/pixels.ts';
import { type Query, usePages } from '../engines/chromium/use-pages.ts';

const styled = (css: string, body: string) => `<!doctype html><style>body{margin:0}${css}</style>${body}`;
/** A green square at the top left of the content. */
const CORNER = '<div style="width:40px;height:40px;background:#0f0"></div>';
const rows = Array.from({ length: 120 }, (_, index) => `<tr><td>row ${index}`).join('');
/** Number of rows that makes a table huge. */
const HUGE = 2100;
const WINDOW =
  '<p id=p></p><script>onload = onresize = () => { p.textContent = [innerWidth, innerHeight].join("x") }</script>';

const site = await usePages({
  '/table': `<!doctype html><table><thead><tr><th>heading<tfoot><tr><td>footing<tbody>${rows}</table>`,
  '/huge': `<!doctype html><table><thead><tr><th>heading<tbody>${Array.from({ length: HUGE }, (_, index) => `<tr><td>${index}`).join('')}</table>`,
  '/table-whole': styled(
    'thead{display:table-row-group}',
    `<table><thead><tr><th>heading<tbody>${rows}</table>`,
  ),
  '/card': styled('@page{size:100mm 150mm;margin:0}', CORNER),
  '/letter': styled('@page{size:letter landscape}', `${CORNER}${WINDOW}`),
  '/imported': `<!doctype html><style>@import url(/page.css); @import url(/page.css?print) print</style>${WINDOW}`,
  '/page.css': (request, response) => {
    response.setHeader('content-type', 'text/css');
    response.end(`@page{size:${request.url!.endsWith('print') ? 'A5' : '200mm 100mm'};margin:0}`);
  },
  '/portrait': styled('@page{size:A4 portrait;margin:3cm} @page :first{margin:4cm}', CORNER),
  '/named': styled(
    '@page wide{size:A4 landscape} section{page:wide}',
    '<p>first</p><section>second</section>',
  ),
  '/window-tall': styled(
    '@page:first{margin:30mm} .a{height:100vh} .b{min-height:calc(100vh - 20px)} .c{padding-top:50vh}',
    '<div class=a>first</div><div class=b>second</div><div class=c>last</div>',
  ),
  '/window-tall-shadow': styled(
    '',
    '<div><template shadowrootmode=open>first<p style="height:100vh">second</p><p style="margin-top:50vh">last</template></div>',
  ),
  '/window-tall-generated': styled(
    'div::before{content:"first";display:block;height:100vh} div::after{content:"last";display:block;margin-top:50vh}',
    '<div>second</div>',
  ),
  '/unsupported': styled(
    '@supports (display:nothing){@page{size:A5}} @supports (display:grid){@page{margin:40mm}}',
    CORNER,
  ),
  '/media': styled('@media print{@page{size:A5}}', CORNER),
  '/colors': styled(
    '',
    '<div style="width:96px;height:96px;background:#f00"></div><p style="color:#00f">blue text</p>',
  ),
  '/line': styled('', `<p style="font-size:16px">small</p><p>${'word'.repeat(75)}</p>`),
  '/bootstrap': styled(
    '.column{float:left;width:100%} @media (min-width:768px){.column{width:50%}}',
    '<div class=column>left</div><div class=column>right</div>',
  ),
  '/window': `<!doctype html><body style="margin:0">${WINDOW}`,
  '/letterhead': styled('@page{margin:0}', CORNER),
  '/wide-margin': styled('@page{margin:25mm}', CORNER),
  '/sheets': `<!doctype html><style>@page{size:A5;margin:0} body{margin:8px} div{width:148mm;height:210mm;overflow:hidden}</style>
    ${Array.from({ length: 12 }, (_, index) => `<div>sheet ${index + 1}</div>`).join('')}`,
  '/chapters': '<!doctype html><style>p{break-before:page}</style>a<p>b<p>c',
});

async function pdf(path: string, query?: Query) {
  const converted = await site.pdf(path, query);
  const sizes = converted.pages.map(({ width, height }) => [millimeters(width), millimeters(height)]);
  return { ...converted, sizes };
}

const millimeters = (points: number) => Math.round((points / 72) * 25.4);

/** Millimeters from the page's left and top edges to the green square. */
async function corner(bytes: Buffer): Promise<readonly [number, number]> {
  const drawn = sharp(await drawPage(bytes, 1)).removeAlpha();
  const { data, info } = await drawn.raw().toBuffer({ resolveWithObject: true });
  for (let x = 0; x < info.width; x += 2) {
    for (let y = 0; y < info.height; y += 2) {
      const at = 3 * (y * info.width + x);
      if (data[at] === 0 && data[at + 1] === 255 && data[at + 2] === 0)
        return [millimeters(x), millimeters(y)];
    }
  }
  throw new Error('no green square');
}

describe('a table', () => {
  it('has its header and footer on every page', async () => {
    const { pages: all } = await pdf('/table');

    expect(all.length).toBeGreaterThan(1);
    for (const { text } of all) expect(text).toMatch(/^heading .* footing$/);
  });

  it('has its header on every page even if it is huge, and all rows in order', async () => {
    const { pages: all } = await site.pdf('/huge');

    const numbers = all.flatMap(({ text }) => /^heading (.*)$/.exec(text)?.[1]?.match(/\d+/g) ?? ['missing']);
    expect(numbers).toEqual(Array.from({ length: HUGE }, (_, index) => String(index)));
  });

  it('has them once if the page says so', async () => {
    expect((await pdf('/table-whole')).text.match(/heading/g)).toHaveLength(1);
  });
});

describe('@page', () => {
  it.for([
    ['/card', [100, 150]],
    ['/letter', [279, 216]],
    ['/portrait', [210, 297]],
    ['/media', [210, 297]],
  ] as const)('sets the size of %s', async ([path, size]) => {
    expect((await pdf(path)).sizes).toEqual([size]);
  });

  it('counts inside `@media print` where print style sheets do', async () => {
    expect((await pdf('/media', { '--print-media-type': '' })).sizes).toEqual([[148, 210]]);
  });

  it('sets the margins', async () => {
    expect(await corner((await pdf('/card')).bytes)).toEqual([0, 0]);
    expect(await corner((await pdf('/portrait')).bytes)).toEqual([40, 40]);
  });

  it('also sets the size of the window in an imported style sheet', async () => {
    const { sizes, text } = await pdf('/imported');

    expect([sizes, text]).toEqual([[[200, 100]], '756x378']);
  });

  it('counts inside `@supports` only if that is supported', async () => {
    const { bytes, sizes } = await pdf('/unsupported');

    expect(sizes).toEqual([[210, 297]]);
    expect(await corner(bytes)).toEqual([40, 40]);
  });

  it('of the first page applies to one as tall as the content, which may depend on the window', async () => {
    const { sizes, text } = await pdf('/window-tall', { '--page-height': 'auto' });

    expect(text).toBe('first second last');
    expect(sizes).toHaveLength(1);
    // Two and a half windows, a line, and the margins.
    expect(sizes[0]![1]).toBeGreaterThan(2.4 * 277);
    expect(sizes[0]![1]).toBeLessThan(2.6 * 277 + 60);
  });

  it.each([
    ['generated content', '/window-tall-generated'],
    ['a shadow tree', '/window-tall-shadow'],
  ])('makes one page of %s as tall as the window', async (_content, path) => {
    const { sizes, text } = await pdf(path, { '--page-height': 'auto' });

    expect(text).toBe('first second last');
    expect(sizes).toHaveLength(1);
    expect(sizes[0]![1]).toBeGreaterThan(1.4 * 277);
    expect(sizes[0]![1]).toBeLessThan(1.6 * 277 + 60);
  });

  it('sets the size of named pages', async () => {
    expect((await pdf('/named')).sizes).toEqual([
      [210, 297],
      [297, 210],
    ]);
  });

  it('sets the window size that scripts see', async () => {
    expect((await pdf('/letter')).text).toBe('980x740');
  });

  it('is overridden only by options that are given', async () => {
    const landscape = await pdf('/portrait', { '-O': 'Landscape', '-L': '20' });

    expect(landscape.sizes).toEqual([[297, 210]]);
    expect(await corner(landscape.bytes)).toEqual([20, 40]);
    expect(await corner((await pdf('/portrait', { '-T': '10' })).bytes)).toEqual([40, 10]);
  });

  it('is ignored on request', async () => {
    const ignored = await pdf('/card', { '--no-prefer-css-page-size': '' });

    expect(ignored.sizes).toEqual([[210, 297]]);
    expect(await corner(ignored.bytes)).toEqual([10, 10]);
  });

  it('leaves space for a header', async () => {
    expect(await corner((await pdf('/letterhead', { '--header-center': 'header' })).bytes)).toEqual([0, 10]);
  });

  it('decides about the margin of a header that has space in it', async () => {
    const { bytes } = await pdf('/wide-margin', { '--header-center': 'header', '--footer-center': 'footer' });

    expect(await corner(bytes)).toEqual([25, 25]);
  });

  it('gives each sheet of its size a page, without the margin of the body', async () => {
    const { pages } = await pdf('/sheets');

    expect(pages.map(({ text }) => text)).toEqual(pages.map((_, index) => `sheet ${index + 1}`));
    expect(pages).toHaveLength(12);
  });
});

describe('a header', () => {
  it('differs on the first page and on even pages', async () => {
    const { pages } = await pdf('/chapters', {
      '--header-left': 'odd [page]',
      '--header-even-right': 'even [page]',
      '--no-header-first': '',
    });

    expect(pages.map(({ text }) => text.replace(/\s+/g, ' ').trim())).toEqual([
      'a',
      expect.stringContaining('even 2'),
      expect.stringContaining('odd 3'),
    ]);
  });
});

describe('the window', () => {
  it('is as large as the printable area', async () => {
    expect((await pdf('/window')).text).toBe('718x1047');
    expect((await pdf('/window', { '-O': 'Landscape', '-L': '0', '-R': '0' })).text).toBe('1123x718');
  });

  it('determines the layout if it is given, and is scaled down to the paper', async () => {
    const wide = await pdf('/bootstrap', { '--viewport-size': '1280x1024' });
    const [wideLines, lines] = [
      await lineCount(wide.bytes),
      await lineCount((await pdf('/bootstrap')).bytes),
    ];

    expect(wideLines).toBe(1);
    expect(lines).toBe(2);
    expect((await pdf('/window', { '--viewport-size': '1280x1024' })).text).toBe('1280x1024');
  });
});

/** Lines of text on the first page. */
async function lineCount(bytes: Buffer): Promise<number> {
  const { getDocument } = await import('pdfjs-dist/legacy/build/pdf.mjs');
  const document = await getDocument({ data: new Uint8Array(bytes), verbosity: 0 }).promise;
  const { items } = await (await document.getPage(1)).getTextContent();
  const lines = new Set(
    items.flatMap((item) => ('str' in item && item.str.trim() ? [Math.round(item.transform[5])] : [])),
  );
  await document.loadingTask.destroy();
  return lines.size;
}

/** Smallest font size on the first page, in points. */
async function textSize(bytes: Buffer): Promise<number> {
  const { getDocument } = await import('pdfjs-dist/legacy/build/pdf.mjs');
  const document = await getDocument({ data: new Uint8Array(bytes), verbosity: 0 }).promise;
  const { items } = await (await document.getPage(1)).getTextContent();
  const sizes = items.flatMap((item) => ('str' in item && item.str.trim() ? [item.height] : []));
  await document.loadingTask.destroy();
  return Math.min(...sizes);
}

describe('shrinking', () => {
  it('stops at two thirds', async () => {
    expect(await textSize((await pdf('/line')).bytes)).toBeCloseTo(8, 0);
  });

  it('can be disabled', async () => {
    const { bytes } = await pdf('/line', { '--disable-smart-shrinking': '' });

    expect(await textSize(bytes)).toBeCloseTo(12, 0);
  });
});

describe('grayscale', () => {
  it('keeps text as text and the file small', async () => {
    const colors = await pdf('/colors');
    const gray = await pdf('/colors', { '-g': '' });

    expect(gray.text).toBe('blue text');
    expect(gray.bytes.length).toBeLessThan(colors.bytes.length + 2000);
  });

  it('has no color', async () => {
    const { bytes } = await pdf('/colors', { '-g': '' });
    const [red, green, blue] = await pixel(await drawPage(bytes, 1), 28 + 30, 28 + 30);

    expect(red).toBeGreaterThan(50);
    expect(red).toBeLessThan(100);
    expect([green, blue]).toEqual([red, red]);
  });
});
