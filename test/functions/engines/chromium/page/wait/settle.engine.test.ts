import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPdf } from '../../../../../helpers/pdf.ts';
import { pixel } from '../../../../../helpers/pixels.ts';
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
/** Opens a WebSocket and sends a message after a while. */
const greet = ({ headers, socket }: IncomingMessage) => {
  const accept = createHash('sha1')
    .update(`${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  setTimeout(() => socket.write(Buffer.from([0x81, 2, 0x68, 0x69])), 600);
};
const scripted = (script: string, body = '<p id=p>begun</p>') =>
  `<!doctype html><body style="margin:0">${body}<script>${script}</script>`;

/**
 * Limit in milliseconds. However busy the machine is, a wait that only this limit ends can be told from a short one.
 */
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

/** Returns an image that turns from white to black and does not repeat. */
async function animatedGif(): Promise<Buffer> {
  const raw = Buffer.concat([Buffer.alloc(30_000, 255), Buffer.alloc(30_000)]);
  const frames = sharp(raw, { raw: { width: 100, height: 200, channels: 3, pageHeight: 100 } });
  return frames.gif({ loop: 1, delay: [500, 500] }).toBuffer();
}

/** Scripts that go on when a promise is resolved by another thread or process, after which no listener is called. */
const CHAINS = {
  caches: `const cache = await caches.open('store');
    for (let n = 0; n < 40; n++) {
      await cache.put('/' + n, new Response('stored'));
      await (await cache.match('/' + n)).text();
    }`,
  files: `const folder = await navigator.storage.getDirectory();
    for (let n = 0; n < 40; n++) {
      const file = await folder.getFileHandle(String(n), { create: true });
      await (await file.getFile()).text();
    }`,
  transactions: `const database = await new Promise((resolve) => {
      const opening = indexedDB.open('store', 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore('texts');
      opening.onsuccess = () => resolve(opening.result);
    });
    for (let n = 0; n < 60; n++) {
      const writing = database.transaction('texts', 'readwrite');
      writing.objectStore('texts').put('stored', n);
      await new Promise((resolve) => { writing.oncomplete = resolve });
    }`,
  computations: `const key = await crypto.subtle.importKey('raw', new Uint8Array(8), 'PBKDF2', false, ['deriveBits']);
    for (let n = 0; n < 4; n++) {
      await crypto.subtle.deriveBits({ name: 'PBKDF2', salt: new Uint8Array(8), iterations: 400000, hash: 'SHA-256' }, key, 256);
    }`,
  pictures: `const canvas = document.createElement('canvas');
    for (let n = 0; n < 30; n++) await new Promise((resolve) => canvas.toBlob(resolve));
    const context = new OffscreenCanvas(9, 9).getContext('2d');
    for (let n = 0; n < 30; n++) await context.canvas.convertToBlob();`,
} as const;

beforeAll(async () => {
  const gif = await animatedGif();
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
      'box.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 2000, fill: "both" })',
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
      '(function turn() { requestAnimationFrame(turn) })(); let n = 0; setInterval(() => { p.textContent = "ticks".padEnd(++n + 5, "!") }, 1000)',
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
    '/scrolled': scripted(
      `addEventListener('scroll', () => {
         if (p.getBoundingClientRect().top < innerHeight) p.textContent = 'seen';
       })`,
      '<div style="height:9000px"></div><p id=p>begun</p>',
    ),
    '/margin': scripted(
      `new IntersectionObserver(([entry]) => { if (entry.isIntersecting) p.textContent = 'seen' },
         { rootMargin: '-40% 0px' }).observe(p)`,
      '<div style="height:9000px"></div><p id=p>begun</p><div style="height:500px"></div>',
    ),
    '/inside': scripted(
      `box.addEventListener('scroll', () => {
         if (p.getBoundingClientRect().top < innerHeight) box.replaceChildren('seen');
       })`,
      '<div id=box style="height:100vh;overflow:auto"><div style="height:3000px"></div><p id=p>begun</p></div>',
    ),
    '/inside-shadow': scripted(
      `const root = host.attachShadow({ mode: 'open' });
       root.innerHTML = '<div style="height:100vh;overflow:auto"><div style="height:3000px"></div><slot></slot></div>';
       const list = root.firstChild;
       list.addEventListener('scroll', () => {
         if (p.getBoundingClientRect().top < innerHeight) { p.textContent = 'seen'; list.before(p) }
       })`,
      '<div id=host><p id=p>begun</p></div>',
    ),
    '/inside-body': scripted(
      `document.body.addEventListener('scroll', () => {
         if (p.getBoundingClientRect().top < innerHeight) document.body.replaceChildren('seen');
       })`,
      `<style>html { overflow: hidden } html, body { height: 100% } body { overflow: auto }</style>
       <div style="height:3000px"></div><p id=p>begun</p>`,
    ),
    '/endless-list': scripted(
      `let n = 0;
       const add = () => {
         for (let i = 0; i < 10; i++) list.insertAdjacentHTML('beforeend', '<li style="height:100px">');
         p.textContent = n += 10;
       };
       new IntersectionObserver(([entry]) => entry.isIntersecting && fetch('/slow').then(add)).observe(end);
       add()`,
      '<p id=p></p><ul id=list></ul><div id=end>.</div>',
    ),
    '/websocket': scripted(
      `const socket = new WebSocket(location.origin.replace('http', 'ws') + '/greeting');
       socket.onmessage = ({ data }) => { p.textContent = data }`,
    ),
    '/greeting': greet,
    '/hashes': scripted(
      `(async () => {
         const pair = await crypto.subtle.generateKey({ name: 'RSA-OAEP', modulusLength: 2048,
           publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }, true, ['encrypt', 'decrypt']);
         p.textContent = pair.publicKey.type;
       })()`,
    ),
    ...Object.fromEntries(
      Object.entries(CHAINS).map(([name, steps]) => [
        `/${name}`,
        scripted(`(async () => { ${steps}; p.textContent = 'ended' })()`),
      ]),
    ),
    '/string': scripted('setTimeout("p.textContent = 1500", 1500)'),
    '/view-transition': scripted('document.startViewTransition(() => { p.textContent = "moved" })'),
    '/times-out': scripted(
      'fetch("/hang", { signal: AbortSignal.timeout(1500) }).catch(() => { p.textContent = "over" })',
    ),
    '/counts-frames': scripted(
      'let n = 0; (function turn() { ++n < 100 ? requestAnimationFrame(turn) : (p.textContent = n) })()',
    ),
    '/color': `<!doctype html><style>@keyframes k { from { background: #fff } }#box{animation: k 1s forwards}</style><body style="margin:0">${SQUARE}`,
    '/closed':
      '<!doctype html><body style="margin:0"><div><template shadowrootmode=closed><style>@keyframes k { from { opacity: 0 } }div{width:100px;height:100px;background:#000;animation: k 1s .5s both}</style><div></div></template></div>',
    '/picture': '<!doctype html><body style="margin:0"><img src="/moving.svg">',
    '/moving.svg': (_request, response) => {
      response.writeHead(200, { 'content-type': 'image/svg+xml' });
      response.end(
        '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100"><rect width="10" height="100"><animate attributeName="width" to="100" dur="1s" fill="freeze"/></rect></svg>',
      );
    },
    '/paused': `<!doctype html><style>@keyframes k { to { opacity: 0 } }div{animation: k 1s 10s both}</style><body style="margin:0">${SQUARE}`,
    '/cursor': '<!doctype html><input autofocus><script>document.title = "cursor"</script>',
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
    '/offscreen': scripted(
      'const canvas = c.transferControlToOffscreen(); new Worker("/draws.js").postMessage(canvas, [canvas])',
      '<canvas id=c width=300 height=100></canvas>',
    ),
    '/draws.js': after(
      0,
      `onmessage = ({ data }) => {
         let width = 0;
         requestAnimationFrame(function draw() {
           data.getContext('2d').fillRect(0, 0, width += 10, 100);
           if (width < 300) requestAnimationFrame(draw);
         });
       }`,
      'text/javascript',
    ),
    '/idle': scripted(
      'let n = 0; (function rest() { ++n < 30 ? requestIdleCallback(rest) : (p.textContent = n) })()',
    ),
    '/busy': scripted(
      `setTimeout(() => {
         const wait = (now) => { const begun = now(); while (now() - begun < 200); };
         wait(() => Date.now());
         wait(() => +new Date());
         wait(() => performance.now());
         p.textContent = 'waited';
       }, 100)`,
    ),
    '/works': scripted('new Worker("/steps.js").onmessage = ({ data }) => { p.textContent = data }'),
    '/steps.js': after(
      0,
      'let n = 0; const timer = setInterval(() => { postMessage(++n); if (n === 15) clearInterval(timer) }, 100)',
      'text/javascript',
    ),
    '/ticker': scripted('new EventSource("/ticks").onmessage = ({ data }) => { p.textContent = data }'),
    '/ticks': (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      let n = 0;
      const timer = setInterval(() => {
        response.write(`data: ${++n}\n\n`);
        if (n === 8) clearInterval(timer);
      }, 250);
    },
    '/gif': '<!doctype html><body style="margin:0"><img src="/moving.gif">',
    '/moving.gif': (_request, response) =>
      void response.writeHead(200, { 'content-type': 'image/gif' }).end(gif),
    '/debounced': scripted(
      `let timer;
       addEventListener('scroll', () => {
         clearTimeout(timer);
         timer = setTimeout(() => {
           const { top, bottom } = p.getBoundingClientRect();
           if (bottom > 0 && top < innerHeight) p.textContent = 'seen';
         }, 100);
       })`,
      '<div style="height:3000px"></div><p id=p>begun</p><div style="height:3000px"></div>',
    ),
    '/tall-section': scripted(
      `new IntersectionObserver(([entry]) => { if (entry.intersectionRatio >= 0.9) p.textContent = 'seen' },
         { threshold: 0.9 }).observe(box)`,
      '<div style="height:2000px"></div><div id=box style="height:80vh"><p id=p>begun</p></div><div style="height:2000px"></div>',
    ),
    // Shows its parts by scrolling what hides its overflow, which a reader cannot scroll.
    '/fixed-parts': scripted(
      'for (const part of [self, box]) part.onscroll = () => { p.textContent = "moved" }',
      `<style>body { overflow: hidden }</style><div id=box style="height:100vh;overflow:hidden"><p id=p>begun</p>
       <div style="height:1500px"></div><div style="height:50vh;overflow:auto"><div style="height:200vh"></div></div></div>`,
    ),
    '/background': scripted(
      'new EventSource("/events").onmessage = ({ data }) => { p.textContent = data }; new Worker("/worker.js")',
    ),
    '/poll': scripted('fetch("/hang")'),
    '/long-poll': scripted('fetch("/polling?t=1")'),
    '/polling': never,
    '/stalled':
      '<!doctype html><link rel=stylesheet href="/hang.css"><p>above</p><script src="/hang.js"></script><p>below</p><img src="/hang.png">',
    '/still': '<!doctype html><p>still</p>',
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
    ['what is shown by a listener for scrolling is shown', '/scrolled', 'seen'],
    ['what is shown in the middle of the window is shown', '/margin', 'seen'],
    ['what is shown on scrolling inside an element is shown', '/inside', 'seen'],
    ['what is shown on scrolling inside the body is shown', '/inside-body', 'seen'],
    ['what is shown on scrolling inside a shadow tree is shown', '/inside-shadow', 'seen'],
    ['its server has sent a message', '/websocket', 'hi'],
    ['its keys are generated', '/hashes', 'public'],
    ...Object.keys(CHAINS).map(
      (name) => [`${name} have resolved many promises`, `/${name}`, 'ended'] as const,
    ),
    ['a script in a string has run', '/string', '1500'],
    ['a view transition has ended', '/view-transition', 'moved'],
    ['its own timeout has ended a request', '/times-out', 'over'],
    ['a script has counted frames', '/counts-frames', '100'],
    ['only a text cursor blinks', '/cursor', ''],
    ['its idle callbacks have run', '/idle', '30'],
    ['a script has waited in a loop for time to pass', '/busy', 'waited'],
    ['its workers have reported all progress', '/works', '15'],
    ['its event stream pauses', '/ticker', '8'],
    ['what a listener shows that waits for a pause in scrolling is shown', '/debounced', 'seen'],
    ['what is shown when most of it is in view is shown', '/tall-section', 'seen'],
    ['only what a reader can scroll has been scrolled', '/fixed-parts', 'begun'],
  ] as const)('%s', async ([, path, text]) => {
    expect(await read(path)).toMatchObject({ text, settled: true });
  });

  it.for([
    ['a CSS animation', '/fade', 50],
    ['a CSS transition', '/transition', 250],
    ['a canvas', '/bars', 290],
    ['a Web Animation', '/web-animation', 50],
    ['an SVG animation', '/svg', 290],
    ['an animation of a color', '/color', 50],
    ['an animation in a closed shadow tree', '/closed', 50],
    ['an animation in an image', '/picture', 90],
    ['before it begins, an animation', '/paused', 50],
    ['a canvas that a worker draws', '/offscreen', 290],
    ['an animated image of a page without scripts', '/gif', 50],
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
    ['/database', 'stored'],
    ['/hashes', 'public'],
  ] as const)('%s', async ([path, text]) => {
    const results = [];
    for (let run = 0; run < 10; run++) results.push((await read(path)).text);

    expect(new Set(results)).toEqual(new Set([text]));
  });
});

it('an endless list has the same length each time', async () => {
  const lengths = [];
  for (let run = 0; run < 4; run++) lengths.push(Number((await read('/endless-list')).text.split(' ')[0]));

  expect(lengths[0]).toBeGreaterThan(30);
  expect(lengths).toEqual(Array(4).fill(lengths[0]));
});

describe('the wait', () => {
  it('gives a page that is being built as much real time as time of its own', async () => {
    expect(await read('/book')).toMatchObject({ text: '40', settled: true });

    // Without the first frames, which come before the page's clock is stopped.
    const [first, last] = [typeset.at(20)!, typeset.at(-1)!];
    expect(last.virtual - first.virtual).toBeLessThan(1.3 * (last.real - first.real));
  });

  it('is not needed for a page without scripts', async () => {
    await read('/still');

    expect((await read('/still')).time).toBeLessThan(1500);
  });

  it('is limited for a page that never stops changing, and the result reports it', async () => {
    expect(await read('/endless')).toMatchObject({
      text: expect.stringMatching(/^ticks!+$/),
      settled: false,
    });
    expect((await read('/endless')).time).toBeLessThan(10_000);
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
