import { readFile } from 'node:fs/promises';
import type { html2image } from '../../../../functions/html2image/tool.ts';
import type { html2pdf } from '../../../../functions/html2pdf/tool.ts';
import { noisyPhoto } from '../../../fixtures/image.ts';
import { type Drawn, effectCheck, type Sample } from '../../option-effects.ts';
import type { Route } from './page-server.ts';
import { usePages } from './use-pages.ts';

/** A value for each option of the page, which both tools have. */
export const PAGE_SAMPLES = {
  printMedia: { value: 'on' },
  encoding: { value: 'windows-1250', source: '/undeclared' },
  images: { value: 'off' },
  javascript: { value: 'off' },
  styleSheet: { value: 'p{color:red}' },
  hide: { value: 'h1' },
  minimumFontSize: { value: '30' },
  javascriptDelay: { value: '4000', source: '/late' },
  windowStatus: { value: 'ready', source: '/late' },
  waitForSelector: { value: '.ready', source: '/late' },
  waitForExpression: { value: 'late.className', source: '/late' },
  waitUntil: { value: 'networkidle0', source: '/requests' },
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
  network: { value: 'on', source: '/uploaded' },
} as const satisfies Readonly<Record<string, Sample>>;

/** Options of the page whose effect other test files draw. */
export const PAGE_DRAWN: Drawn = {
  'html2pdf/convert':
    'printMedia, javascript, styleSheet, javascriptDelay, windowStatus, waitForSelector, waitForExpression, mediaFeatures',
  'html2pdf/convert.options': 'encoding, hide, failOnException, failOnStatus, timezone, locale',
  'engines/chromium/page/prepare': 'minimumFontSize, device',
  'engines/chromium/page/visit':
    'images, loadErrors, mediaErrors, headers, cookies, username, password, userAgent',
};

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

const photo = await noisyPhoto(200, 200).jpeg().toBuffer();

/** The sources of samples. */
const SOURCES: Readonly<Record<string, Route>> = {
  '/photo.jpg': (_, response) => response.setHeader('content-type', 'image/jpeg').end(photo),
  '/picture': '<!doctype html><img src="/photo.jpg" alt="">',
  '/picture.svg': (_, response) => response.setHeader('content-type', 'image/svg+xml').end(PIXEL),
  '/locked': ({ headers }, response) => {
    response.writeHead(headers.authorization ? 200 : 401, { 'www-authenticate': 'Basic' });
    response.end(headers.authorization ? atob(headers.authorization.slice(6)) : 'locked');
  },
  '/throws': '<!doctype html><p>throws<script>throw new Error("broken")</script>',
  '/uploaded': ({ headers }, response) =>
    response.end(`<!doctype html><img src="http://${headers.host}/picture.svg" alt="">`),
  '/undeclared': (_, response) => response.setHeader('content-type', 'text/html').end('<p>£ódź'),
  '/gone': (_, response) => response.writeHead(404, { 'content-type': 'text/html' }).end('<p>gone'),
  // Changes once, long after a page is converted by default.
  '/late':
    '<!doctype html><p id="late">begun</p><script>addEventListener("load", () => setTimeout(() => { late.className = late.textContent = window.status = "ready" }, 3000))</script>',
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
    }, 5000);
  },
  '/cover': '<!doctype html><h1>Cover</h1>',
  '/own.css': (_, response) => response.setHeader('content-type', 'text/css').end('p { color: red }'),
  '/': ({ headers }, response) => {
    const sent = ['x-own', 'cookie', 'user-agent', 'accept-language'].map((name) => headers[name]).join(' ');
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(PAGE.replace('REQUEST', sent.replace(/[<&]/g, '')));
  },
};

/** Pages are waited for less long than `/late` and `/requests` take. */
const limits = { settleTime: 300 };

/** Serves the sources of samples for a test file. Returns the check of an option, as `effectCheck` does. */
export async function usePageEffects(tool: typeof html2pdf | typeof html2image) {
  const { convert, origin } = await usePages(SOURCES);
  return effectCheck(
    tool,
    async (given, source = '/', format) => {
      const query = Object.fromEntries(given.map(({ name, value }) => [name, value]));
      const files = source === '/uploaded' ? [{ path: 'page.html', url: origin + source }] : undefined;
      return readFile((await convert(tool.name, source, query, { format, files, limits })).path);
    },
    (value) => (value.startsWith('/') ? origin + value : value),
  );
}
