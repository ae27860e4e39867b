import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { html2image } from '../../../functions/html2image/tool.ts';
import { html2pdf } from '../../../functions/html2pdf/tool.ts';
import { servePages, startBrowsers } from '../engines/chromium/page-server.ts';
import { type Case, casesOf, observeEffects, type Run } from '../option-effects.ts';
import { IMAGE_SAMPLES, PAGE_SAMPLES, PDF_SAMPLES } from './option-samples.ts';

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
/** A photo, which loses detail at a low quality. */
const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;

beforeAll(async () => {
  const photo = await sharp({ create: { width: 200, height: 200, channels: 3, background: '#888', noise } })
    .jpeg()
    .toBuffer();
  pages = await servePages({
    '/photo.jpg': (_, response) => response.setHeader('content-type', 'image/jpeg').end(photo),
    '/picture': '<!doctype html><img src="/photo.jpg" alt="">',
    '/picture.svg': (_, response) => response.setHeader('content-type', 'image/svg+xml').end(PIXEL),
    '/locked': ({ headers }, response) => {
      response.writeHead(headers.authorization ? 200 : 401, { 'www-authenticate': 'Basic' });
      response.end(headers.authorization ? atob(headers.authorization.slice(6)) : 'locked');
    },
    '/throws': '<!doctype html><p>throws<script>throw new Error("broken")</script>',
    '/uploaded': (_, response) =>
      response.end(`<!doctype html><img src="${pages.origin}/picture.svg" alt="">`),
    '/gone': (_, response) => response.writeHead(404, { 'content-type': 'text/html' }).end('<p>gone'),
    // Changes once, long after a page is converted by default.
    '/late':
      '<!doctype html><p id="late">begun</p><script>addEventListener("load", () => setTimeout(() => { late.className = late.textContent = window.status = "ready" }, 4000))</script>',
    // Requests something that takes as long.
    '/requests':
      '<!doctype html><p id="text">begun</p><script>addEventListener("load", () => fetch("/slow").then((response) => response.text()).then((got) => { text.textContent = got }))</script>',
    '/slow': (_, response) => {
      // Without any data, the request would count as stalled.
      response.write('slow');
      const timer = setInterval(() => response.write('.'), 200);
      setTimeout(() => {
        clearInterval(timer);
        response.end();
      }, 8000);
    },
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

/** Pages are waited for less long than `/late` and `/requests` take. */
const limits = { settleTime: 1000 };

const converting =
  (name: 'html2pdf' | 'html2image'): Run =>
  async (given, source = '/', format) => {
    const query = Object.fromEntries(given.map(({ name, value }) => [name, value]));
    const url = pages.origin + source;
    const files = source === '/uploaded' ? [{ path: 'page.html', url }] : undefined;
    return readFile((await browsers[name].convert(url, query, { format, files, limits })).path);
  };

const withOrigin = (value: string) => (value.startsWith('/') ? pages.origin + value : value);
const pdf = observeEffects(html2pdf, converting('html2pdf'), withOrigin);
const image = observeEffects(html2image, converting('html2image'), withOrigin);

it.concurrent.each(casesOf(html2pdf, PDF_SAMPLES))(
  '$name has an effect on $format, is ignored or is an error',
  async (test) => {
    expect(await pdf.effectOf(test)).not.toBe('nothing');
  },
);

/**
 * Whether a case is needed. Options of the page take effect before a picture is encoded, so each is observed in one format. They
 * take turns.
 */
function isNeeded({ sample, format }: Case): boolean {
  const index = Object.values<Case['sample']>(PAGE_SAMPLES).indexOf(sample);
  return index < 0 || html2image.formats[index % html2image.formats.length] === format;
}

it.concurrent.each(casesOf(html2image, IMAGE_SAMPLES).filter(isNeeded))(
  '$name has an effect on $format, is ignored or is an error',
  async (test) => {
    expect(await image.effectOf(test)).not.toBe('nothing');
  },
);

it('has an effect on at least one format with every option', () => {
  expect([...pdf.withoutEffect(), ...image.withoutEffect()]).toEqual([]);
});
