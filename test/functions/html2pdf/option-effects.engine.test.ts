import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { html2image } from '../../../functions/html2image/tool.ts';
import { html2pdf } from '../../../functions/html2pdf/tool.ts';
import { servePages, startBrowsers } from '../engines/chromium/page-server.ts';
import { casesOf, observeEffects, type Run, type Sample, type Samples } from '../option-effects.ts';

const PIXEL =
  "<svg xmlns='http://www.w3.org/2000/svg' width='90' height='40'><rect width='90' height='40' fill='green'/></svg>";

/** Contains something for each option to change. */
const PAGE = `<!doctype html><html lang="en"><title>Options</title><style>
  @page { margin: 12mm }
  body { background: #def; color: #123; width: 1400px }
  small { font-size: 7px }
  @media print { #media { font-size: 40px } }
  @media (prefers-color-scheme: dark) { body { color: #931 } }
</style>
<h1>First</h1><h3>Second</h3><p id="media">media</p><small>small</small>
<a href="https://example.org/">out</a> <a href="#end">in</a>
<img src="/picture.svg" alt=""><img src="/missing.png" alt="">
<form><input value="x"></form><p id="script"></p><p id="request">REQUEST</p>
<div id="status" hidden>late</div><div style="height: 1500px"></div><p id="end">end</p>
<script>
  const text = [Intl.DateTimeFormat().resolvedOptions().timeZone, navigator.language, devicePixelRatio, innerWidth, innerHeight];
  document.getElementById('script').textContent = text.join(' ');
</script>`;

let pages: Awaited<ReturnType<typeof servePages>>;
let browsers: Record<'html2pdf' | 'html2image', Awaited<ReturnType<typeof startBrowsers>>>;
beforeAll(async () => {
  pages = await servePages({
    '/picture.svg': (_, response) => response.setHeader('content-type', 'image/svg+xml').end(PIXEL),
    '/locked': ({ headers }, response) => {
      response.writeHead(headers.authorization ? 200 : 401, { 'www-authenticate': 'Basic' });
      response.end(headers.authorization ? atob(headers.authorization.slice(6)) : 'locked');
    },
    '/throws': '<!doctype html><p>throws<script>throw new Error("broken")</script>',
    '/gone': (_, response) => response.writeHead(404, { 'content-type': 'text/html' }).end('<p>gone'),
    '/slow.svg': (_, response) => {
      setTimeout(() => response.setHeader('content-type', 'image/svg+xml').end(PIXEL), 500);
    },
    // Never stops changing, so its picture tells how long it was waited for.
    '/clock':
      '<!doctype html><p id="clock"></p><img src="/slow.svg" alt=""><script>let ticks = 0; setInterval(() => { clock.textContent = ++ticks; if (ticks > 100) { clock.className = "ready"; window.status = "ready" } }, 100)</script>',
    '/cover': '<!doctype html><h1>Cover</h1>',
    '/own.css': (_, response) => response.setHeader('content-type', 'text/css').end('p { color: red }'),
    '/': ({ headers }, response) => {
      const sent = ['x-own', 'cookie', 'user-agent', 'accept-language']
        .map((name) => headers[name])
        .join(' ');
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(PAGE.replace('REQUEST', sent.replace(/[<&]/g, '')));
    },
  });
  const rules = { exceptions: [`127.0.0.1:${pages.port}`] };
  browsers = {
    html2pdf: await startBrowsers('html2pdf', rules),
    html2image: await startBrowsers('html2image', rules),
  };
});
afterAll(async () => {
  await browsers.html2pdf.close();
  await browsers.html2image.close();
  await pages.close();
});

const PAGE_SAMPLES = {
  printMedia: { value: 'on' },
  images: { value: 'off' },
  javascript: { value: 'off' },
  styleSheet: { value: 'p{color:red}' },
  hide: { value: 'h1' },
  minimumFontSize: { value: '30' },
  javascriptDelay: { value: '3000', source: '/clock' },
  windowStatus: { value: 'ready', source: '/clock' },
  waitForSelector: { value: '.ready', source: '/clock' },
  waitForExpression: { value: 'clock.className', source: '/clock' },
  waitUntil: { value: 'domcontentloaded', source: '/clock' },
  loadErrors: { value: 'ignore', source: '/gone' },
  mediaErrors: { value: 'abort' },
  failOnException: { value: 'on', source: '/throws' },
  failOnStatus: { value: '4xx' },
  headers: { value: 'X-Own:mine' },
  cookies: { value: 'mine:1' },
  username: { value: 'ada', source: '/locked' },
  password: { value: 'secret', source: '/locked', beside: { '--username': 'ada' } },
  userAgent: { value: 'Mine/1' },
  mediaFeatures: { value: 'prefers-color-scheme:dark' },
  timezone: { value: 'Europe/Berlin' },
  locale: { value: 'de-DE' },
  device: { value: 'iPhone 15' },
} as const satisfies Readonly<Record<string, Sample>>;

const PDF_SAMPLES: Samples<typeof html2pdf> = {
  ...PAGE_SAMPLES,
  pageSize: { value: 'A3' },
  pageWidth: { value: '150' },
  pageHeight: { value: 'auto' },
  orientation: { value: 'Landscape' },
  preferCssPageSize: { value: 'off' },
  marginTop: { value: '30' },
  marginBottom: { value: '30' },
  marginLeft: { value: '30' },
  marginRight: { value: '30' },
  zoom: { value: '0.5' },
  shrink: { value: 'off' },
  background: { value: 'off' },
  grayscale: { value: 'on' },
  viewport: { value: '700x500' },
  externalLinks: { value: 'off' },
  internalLinks: { value: 'off' },
  outline: { value: 'off' },
  outlineDepth: { value: '1' },
  tagged: { value: 'off' },
  defaultHeader: { value: 'on' },
  headerLeft: { value: 'left' },
  headerCenter: { value: 'center' },
  headerRight: { value: 'right' },
  headerLine: { value: 'on' },
  headerFontName: { value: 'Courier', beside: { '--header-left': 'x' } },
  headerFontSize: { value: '20', beside: { '--header-left': 'x' } },
  headerSpacing: { value: '5', beside: { '--header-left': 'x' } },
  footerLeft: { value: 'left' },
  footerCenter: { value: 'center' },
  footerRight: { value: 'right' },
  footerLine: { value: 'on' },
  footerFontName: { value: 'Courier', beside: { '--footer-left': 'x' } },
  footerFontSize: { value: '20', beside: { '--footer-left': 'x' } },
  footerSpacing: { value: '5', beside: { '--footer-left': 'x' } },
  headerHtml: { value: '<p>mine' },
  footerHtml: { value: '<p>mine' },
  replacements: { value: 'own,mine', beside: { '--header-left': '[own]' } },
  pageOffset: { value: '7', beside: { '--header-left': '[page]' } },
  pageRanges: { value: '2' },
  firstPage: { value: '2' },
  lastPage: { value: '1' },
  cover: { value: '/cover' },
  toc: { value: 'on' },
  tocHeading: { value: 'Mine', beside: { '--toc': '' } },
  tocDots: { value: 'off', beside: { '--toc': '' } },
  tocLinks: { value: 'off', beside: { '--toc': '' } },
  title: { value: 'Mine' },
  metadata: { value: 'Author:Ada' },
  pdfVersion: { value: '2.0' },
  imageQuality: { value: '10', source: '/picture' },
  lowQuality: { value: 'on', source: '/picture' },
  encrypt: { value: 'secret' },
  ownerPassword: { value: 'secret' },
  print: { value: 'none' },
  modify: { value: 'none' },
  copy: { value: 'off' },
  permissions: { value: 'print' },
};

const IMAGE_SAMPLES: Samples<typeof html2image> = {
  ...PAGE_SAMPLES,
  width: { value: '500' },
  smartWidth: { value: 'off' },
  height: { value: '300' },
  zoom: { value: '0.5' },
  cropLeft: { value: '20' },
  cropTop: { value: '20' },
  cropWidth: { value: '200' },
  cropHeight: { value: '200' },
  selector: { value: 'h1' },
  fullPage: { value: 'on', beside: { '--height': '300' } },
  quality: { value: '20' },
  transparent: { value: 'on', source: '/cover' },
};

const converting =
  (name: 'html2pdf' | 'html2image'): Run =>
  async (given, source = '/', format) => {
    const query = Object.fromEntries(
      given.map((pair) => [pair.name, pair.value.startsWith('/') ? pages.origin + pair.value : pair.value]),
    );
    return readFile((await browsers[name].convert(pages.origin + source, query, { format })).path);
  };

const pdfEffectOf = observeEffects(html2pdf, converting('html2pdf'));
const imageEffectOf = observeEffects(html2image, converting('html2image'));

it.each(casesOf(html2pdf, PDF_SAMPLES))(
  '$name has an effect on $format, is ignored or is an error',
  async (test) => {
    expect(await pdfEffectOf(test)).not.toBe('nothing');
  },
);

it.each(casesOf(html2image, IMAGE_SAMPLES))(
  '$name has an effect on $format, is ignored or is an error',
  async (test) => {
    expect(await imageEffectOf(test)).not.toBe('nothing');
  },
);
