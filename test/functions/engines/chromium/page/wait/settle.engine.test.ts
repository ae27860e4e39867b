import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pixel } from '../../../../../likeness.ts';
import { readPdf } from '../../../../../pdf.ts';
import { servePages, startBrowsers } from '../../page-server.ts';
import { oneFrameVideo } from '../../webm.ts';

let pages: Awaited<ReturnType<typeof servePages>>;
let printers: Awaited<ReturnType<typeof startBrowsers>>;
let cameras: Awaited<ReturnType<typeof startBrowsers>>;

const after = (milliseconds: number, body: string, type = 'text/plain') => {
  const headers = { 'content-type': type };
  return (_request: unknown, response: ServerResponse) =>
    void setTimeout(() => response.writeHead(200, headers).end(body), milliseconds);
};
const never = () => {};
const scripted = (script: string, body = '<p id=p>begun</p>') =>
  `<!doctype html><body style="margin:0">${body}<script>${script}</script>`;

/** Milliseconds. A wait that is only ended by this limit is told from a short one however busy the machine is. */
const LONG = 20_000;

/** When the frames of a page that is slow to build came: on the real clock and on the page's own, milliseconds. */
const typeset: { readonly real: number; readonly virtual: number }[] = [];

/** Black, 100 CSS pixels square. */
const SQUARE = '<div id=box style="width:100px;height:100px;background:#000"></div>';

/** Makes an element as tall as the window, a moment after the window has changed. */
const FIT = `let timer;
  const fit = () => { box.style.height = innerHeight + 'px' };
  addEventListener('resize', () => { clearTimeout(timer); timer = setTimeout(fit, 200) });
  fit()`;
const FITTED = '<div id=box style="background:#000"></div><div style="height:500px"></div>';

beforeAll(async () => {
  const video = await oneFrameVideo('#000', 300, 100);
  pages = await servePages({
    '/slow': after(150, 'x'),
    '/language': scripted(
      'p.textContent = [navigator.language, navigator.languages, new Intl.NumberFormat(navigator.language).format(1234.5)].join(" ")',
    ),
    '/fade': `<!doctype html><style>@keyframes fade{from{opacity:0}}#box{animation:fade 2s both}</style><body style="margin:0">${SQUARE}<script>setTimeout(() => {}, 10)</script>`,
    '/transition': scripted('requestAnimationFrame(() => { box.style.width = "300px" })', SQUARE).replace(
      '<body',
      '<style>#box{transition:width 3s}</style><body',
    ),
    '/bars': scripted(
      `const start = performance.now();
       (function draw() {
         const part = Math.min(1, (performance.now() - start) / 1000);
         c.getContext("2d").fillRect(0, 0, 300 * part, 100);
         if (part < 1) requestAnimationFrame(draw);
       })()`,
      '<canvas id=c width=300 height=100></canvas>',
    ),
    '/web-animation': scripted(
      'box.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 60000, fill: "both" })',
      SQUARE,
    ),
    '/video.webm': (_request, response) => {
      response.writeHead(200, { 'content-type': 'video/webm' }).write(video.subarray(0, 40));
      setTimeout(() => response.end(video.subarray(40)), 700);
    },
    '/video': scripted(
      'addEventListener("load", () => { v.src = "/video.webm" })',
      '<video id=v width=300 height=100></video>',
    ),
    '/svg':
      '<!doctype html><body style="margin:0"><svg width=300 height=100><rect width=10 height=100><animate attributeName=width to=300 dur=2s fill=freeze /></rect></svg>',
    '/endless': scripted(
      '(function turn() { requestAnimationFrame(turn) })(); setInterval(() => { p.textContent = "ticks" }, 1000)',
    ),
    '/counter': scripted(
      'let n = 0; const timer = setInterval(() => { p.textContent = ++n; if (n === 100) clearInterval(timer) }, 30)',
    ),
    // Adds a paragraph per frame. Each frame takes real time, while the page's clock stands still.
    '/book': scripted(
      `let n = 0;
       requestAnimationFrame(function add() {
         const request = new XMLHttpRequest();
         request.open('GET', '/typeset?' + performance.now(), false);
         request.send();
         document.body.append(document.createElement('p'));
         p.textContent = ++n;
         if (n < 40) requestAnimationFrame(add);
       })`,
    ),
    '/typeset': (request, response) => {
      typeset.push({ real: performance.now(), virtual: Number(request.url!.split('?')[1]) });
      setTimeout(() => response.end(), 20);
    },
    '/late-fetch': scripted(
      'setTimeout(async () => { p.textContent = await (await fetch("/slow")).text() }, 700)',
    ),
    '/chain': scripted(
      `(async () => {
         for (let i = 0; i < 4; i++) {
           await (await fetch("/slow?" + i)).text();
           await new Promise((done) => setTimeout(done, 30));
         }
         p.textContent = "complete";
       })()`,
    ),
    '/seen': scripted(
      `new IntersectionObserver(([entry], observer) => {
         if (!entry.isIntersecting) return;
         observer.disconnect();
         setTimeout(() => { p.textContent = "seen" }, 500);
       }).observe(p)`,
      '<div style="height:30000px"></div><p id=p>begun</p>',
    ),
    '/seen-later': scripted(
      `fetch('/slow').then(() => new IntersectionObserver(([entry], observer) => {
         if (!entry.isIntersecting) return;
         observer.disconnect();
         p.textContent = 'seen';
       }).observe(p))`,
      '<div style="height:30000px"></div><p id=p>begun</p>',
    ),
    '/unaware': scripted(
      'document.title = "unaware"',
      '<style>@media (min-height: 2000px) { body { background: url(/tall.png) } }</style><div style="height:30000px"></div>',
    ),
    '/fits': scripted(FIT, FITTED),
    '/fits-endless': scripted(`${FIT}; (function turn() { requestAnimationFrame(turn) })()`, FITTED),
    '/fits-polling': scripted(`${FIT}; fetch('/polling')`, FITTED),
    '/frame': '<!doctype html><iframe src="/late-fetch"></iframe>',
    '/worker': scripted(
      'const worker = new Worker("/worker.js"); worker.onmessage = ({ data }) => { p.textContent = data }; worker.postMessage(0)',
    ),
    '/worker.js': after(
      0,
      'onmessage = () => setTimeout(() => postMessage("worked"), 400)',
      'text/javascript',
    ),
    '/database': scripted(
      `const opening = indexedDB.open('store', 1);
       opening.onupgradeneeded = () => opening.result.createObjectStore('texts');
       opening.onsuccess = () => {
         const put = (key) => {
           const writing = opening.result.transaction('texts', 'readwrite');
           writing.objectStore('texts').put('stored', key);
           writing.oncomplete = () => (key < 50 ? put(key + 1) : read());
         };
         const read = () => {
           const reading = opening.result.transaction('texts').objectStore('texts').get(50);
           reading.onsuccess = () => { p.textContent = reading.result };
         };
         put(0);
       }`,
    ),
    '/bitmap': scripted(
      `const blob = new Blob([new Uint8Array(12_000_000)]);
       (async () => {
         for (let i = 0; i < 5; i++) await crypto.subtle.digest('SHA-512', await blob.arrayBuffer());
         const bitmap = await createImageBitmap(new ImageData(2000, 2000));
         p.textContent = bitmap.width;
       })()`,
    ),
    '/events': (_request, response) =>
      void response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: event\n\n'),
    '/background': scripted(
      'new EventSource("/events").onmessage = ({ data }) => { p.textContent = data }; new Worker("/worker.js")',
    ),
    '/poll': scripted('fetch("/hang")'),
    '/long-poll': scripted('fetch("/polling?t=1")'),
    '/polling': never,
    '/stalled':
      '<!doctype html><link rel=stylesheet href="/hang.css"><p>above</p><script src="/hang.js"></script><p>below</p><img src="/hang.png">',
    '/still': '<!doctype html><p>still</p><script>document.title = "still"</script>',
    '/leaves': scripted('setTimeout(() => { location = "/late-fetch" }, 300)'),
    '/moves-and-leaves': scripted(
      '(function turn() { requestAnimationFrame(turn) })(); setTimeout(() => { location = "/bars" }, 1500)',
    ),
    ...Object.fromEntries(['', '.css', '.js', '.png'].map((extension) => [`/hang${extension}`, never])),
  });
  const rules = { exceptions: [`127.0.0.1:${pages.port}`] };
  printers = await startBrowsers('html2pdf', rules);
  cameras = await startBrowsers('html2image', rules);
});

afterAll(async () => {
  await Promise.all([printers.close(), cameras.close()]);
  await pages.close();
});

async function read(path: string, settleTime?: number) {
  const started = Date.now();
  const limits = settleTime === undefined ? {} : { settleTime };
  const { path: file, settled } = await printers.convert(pages.origin + path, {}, { limits });
  const { pages: all } = await readPdf(await readFile(file));
  const text = all
    .map((page) => page.text)
    .join(' ')
    .trim();
  return { text, settled, time: Date.now() - started };
}

async function picture(path: string) {
  return (await cameras.convert(pages.origin + path, {}, { format: 'png' })).path;
}

describe('a page is converted when', () => {
  it.for([
    ['its timers have run', '/counter', '100'],
    ['what a timer loads has come', '/late-fetch', 'x'],
    ['requests in a row have ended', '/chain', 'complete'],
    ['what is shown on scrolling is shown', '/seen', 'seen'],
    ['what is shown on scrolling is shown, even if it is only watched after a while', '/seen-later', 'seen'],
    ['the frames in it look still', '/frame', 'x'],
    ['its database has responded', '/database', 'stored'],
    ['what the browser computes in the background is there', '/bitmap', '2000'],
    ['its workers have replied', '/worker', 'worked'],
    ['the page it navigates to looks still', '/leaves', 'x'],
  ] as const)('%s', async ([, path, text]) => {
    expect(await read(path)).toMatchObject({ text, settled: true });
  });

  it.for([
    ['a CSS animation', '/fade', 50],
    ['a CSS transition', '/transition', 250],
    ['a canvas', '/bars', 290],
    ['a Web Animation that takes a minute', '/web-animation', 50],
    ['an SVG animation', '/svg', 290],
  ] as const)('%s has reached its end', async ([, path, x]) => {
    expect(await pixel(await picture(path), x, 50)).toEqual([0, 0, 0, 255]);
  });
});

it('a video that is still being sent shows its first frame', async () => {
  expect(await pixel(await picture('/video'), 290, 50)).toEqual([0, 0, 0, 255]);
});

it('the page that a moving page navigates to is captured each time', async () => {
  for (let run = 0; run < 4; run++) {
    expect(await pixel(await picture('/moves-and-leaves'), 290, 50)).toEqual([0, 0, 0, 255]);
  }
});

it.for(['/fits', '/fits-endless', '/fits-polling'])(
  '%s, which fits itself to its window, is captured as it fits',
  async (page) => {
    // Too short for the request of the last one, so that it also runs out of real time.
    const limits = { settleTime: 1000 };
    const { path } = await cameras.convert(pages.origin + page, {}, { format: 'png', limits });

    expect((await sharp(path).metadata()).height).toBe(768 + 500);
  },
);

it('a page whose scripts cannot notice the size of the window keeps it', async () => {
  await picture('/unaware');

  expect(pages.asked.map(({ url }) => url)).toContain('/unaware');
  expect(pages.asked.map(({ url }) => url)).not.toContain('/tall.png');
});

describe('a page gets the same result ten times:', () => {
  it.for([
    ['/chain', 'complete'],
    ['/counter', '100'],
    ['/late-fetch', 'x'],
  ] as const)('%s', async ([path, text]) => {
    const results = [];
    for (let run = 0; run < 10; run++) results.push((await read(path)).text);

    expect(results).toEqual(Array(10).fill(text));
  });
});

describe('the wait', () => {
  it('gives a page that is being built as much real time as time of its own', async () => {
    expect(await read('/book')).toMatchObject({ text: '40', settled: true });

    // Without the first frames, which come before the page's clock is stopped.
    const [first, last] = [typeset.at(20)!, typeset.at(-1)!];
    expect(last.virtual - first.virtual).toBeLessThan(1.3 * (last.real - first.real));
  });

  it('is not needed for a static page', async () => {
    await read('/still');

    expect((await read('/still')).time).toBeLessThan(1500);
  });

  it('is limited for a page that never stops changing, and the result reports it', async () => {
    expect(await read('/endless')).toMatchObject({ text: 'ticks', settled: false });
    expect((await read('/endless')).time).toBeLessThan(3000);
    expect(await read('/poll', 1000)).toMatchObject({ text: 'begun', settled: false });
  });

  it('is short for workers and event streams', async () => {
    const { text, settled, time } = await read('/background', LONG);

    expect({ text, settled }).toEqual({ text: 'event', settled: true });
    expect(time).toBeLessThan(LONG / 2);
  });

  it('is short for a poll that is recognized', async () => {
    const { text, settled, time } = await read('/long-poll', LONG);

    expect({ text, settled }).toEqual({ text: 'begun', settled: true });
    expect(time).toBeLessThan(LONG / 2);
  });

  it('ends for style sheets, scripts and images that never arrive', async () => {
    const { text, settled, time } = await read('/stalled', 1000);

    expect({ text, settled }).toEqual({ text: 'above below', settled: false });
    expect(time).toBeLessThan(4000);
    await picture('/still');
    await cameras.convert(`${pages.origin}/stalled`, {}, { limits: { settleTime: 1000 } });
  });
});

describe('scripts', () => {
  it('get a valid language', async () => {
    expect((await read('/language')).text).toBe('en-US en-US,en 1,234.5');
    expect(pages.asked.at(-1)?.headers['accept-language']).toBe('en-US,en');
  });
});
