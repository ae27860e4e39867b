import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { usePages } from '../../use-pages.ts';
import {
  after,
  BARS,
  chain,
  DATABASE,
  ENDLESS,
  ENDLESS_LIST,
  LEAVES_FOR_BARS,
  SQUARE,
  scripted,
} from './settle-pages.ts';

/**
 * Returns a video of one frame in one color. A lossy WebP image is the key frame of a VP8 video, so only the
 * container is written here.
 */
async function oneFrameVideo(color: string, width: number, height: number): Promise<Buffer> {
  const image = await sharp({ create: { width, height, channels: 3, background: color } })
    .webp()
    .toBuffer();
  const frame = image.subarray(image.indexOf('VP8 ') + 8);
  return Buffer.concat([
    element('1a45dfa3', element('4282', Buffer.from('webm')), number('4287', 2), number('4285', 2)),
    element(
      '18538067',
      element('1549a966', number('2ad7b1', 1_000_000), element('4489', double(1000))),
      element(
        '1654ae6b',
        element(
          'ae',
          ...[number('d7', 1), number('73c5', 1), number('83', 1), element('86', Buffer.from('V_VP8'))],
          element('e0', number('b0', width), number('ba', height)),
        ),
      ),
      // Track 1, at 0 ms, a key frame.
      element('1f43b675', number('e7', 0), element('a3', Buffer.from('81000080', 'hex'), frame)),
    ),
  ]);
}

/** An element of EBML (RFC 8794), its size in eight bytes. */
function element(id: string, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(body.length) | (1n << 56n));
  return Buffer.concat([Buffer.from(id, 'hex'), size, body]);
}

function number(id: string, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return element(id, bytes);
}

function double(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes;
}

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

const gif = await animatedGif();
const video = await oneFrameVideo('#000', 300, 100);
const site = await usePages({
  '/slow': after(150, 'x'),
  '/video.webm': (_request, response) => {
    response.writeHead(200, { 'content-type': 'video/webm' }).write(video.subarray(0, 40));
    setTimeout(() => response.end(video.subarray(40)), 700);
  },
  '/late-fetch': scripted(
    'setTimeout(async () => { p.textContent = await (await fetch("/slow")).text() }, 700)',
  ),
  '/greeting': greet,
  '/bars': BARS,
  '/moving.svg': (_request, response) => {
    response.writeHead(200, { 'content-type': 'image/svg+xml' });
    response.end(
      '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100"><rect width="10" height="100"><animate attributeName="width" to="100" dur="1s" fill="freeze"/></rect></svg>',
    );
  },
  '/steps.js': after(
    0,
    'let n = 0; const timer = setInterval(() => { postMessage(++n); if (n === 15) clearInterval(timer) }, 100)',
    'text/javascript',
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
  '/moving.gif': (_request, response) =>
    void response.writeHead(200, { 'content-type': 'image/gif' }).end(gif),
  '/events': (_request, response) =>
    void response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: event\n\n'),
  '/worker.js': after(0, 'onmessage = () => setTimeout(() => postMessage("worked"), 400)', 'text/javascript'),
  ...Object.fromEntries(
    ['/hang', '/hang.css', '/hang.js', '/hang.png', '/polling'].map((path) => [path, never]),
  ),
});

async function read(page: string, settleTime?: number) {
  site.routes['/'] = page;
  const { text, settled } = await site.pdf(
    '/',
    {},
    settleTime === undefined ? {} : { limits: { settleTime } },
  );
  return { text: text.replaceAll('|', ' ').trim(), settled };
}

function picture(page: string, settleTime?: number) {
  site.routes['/'] = page;
  return site.picture('/', {}, 'png', settleTime === undefined ? {} : { limits: { settleTime } });
}

const BLACK = [0, 0, 0];

describe('a page is converted when', () => {
  it.for([
    [
      'its timers have run',
      scripted(
        'let n = 0; const timer = setInterval(() => { p.textContent = ++n; if (n === 100) clearInterval(timer) }, 30)',
      ),
      '100',
    ],
    [
      'what a timer loads has come',
      scripted('setTimeout(async () => { p.textContent = await (await fetch("/slow")).text() }, 700)'),
      'x',
    ],
    [
      'what is shown on scrolling is shown',
      scripted(
        `new IntersectionObserver(([entry], observer) => {
         if (!entry.isIntersecting) return;
         observer.disconnect();
         setTimeout(() => { p.textContent = "seen" }, 500);
       }).observe(p)`,
        '<div style="height:30000px"></div><p id=p>begun</p>',
      ),
      'seen',
    ],
    ['the frames in it look still', '<!doctype html><iframe src="/late-fetch"></iframe>', 'x'],
    ['its database has responded', DATABASE, 'stored'],
    [
      'what the browser computes in the background is there',
      scripted(
        `const blob = new Blob([new Uint8Array(12_000_000)]);
       (async () => {
         for (let i = 0; i < 5; i++) await crypto.subtle.digest('SHA-512', await blob.arrayBuffer());
         const bitmap = await createImageBitmap(new ImageData(2000, 2000));
         p.textContent = bitmap.width;
       })()`,
      ),
      '2000',
    ],
    [
      'the page it navigates to looks still',
      scripted('setTimeout(() => { location = "/late-fetch" }, 300)'),
      'x',
    ],
    [
      'what is shown on scrolling inside an element is shown',
      scripted(
        `box.addEventListener('scroll', () => {
         if (p.getBoundingClientRect().top < innerHeight) box.replaceChildren('seen');
       })`,
        '<div id=box style="height:100vh;overflow:auto"><div style="height:3000px"></div><p id=p>begun</p></div>',
      ),
      'seen',
    ],
    [
      'what is shown on scrolling inside a shadow tree is shown',
      scripted(
        `const root = host.attachShadow({ mode: 'open' });
       root.innerHTML = '<div style="height:100vh;overflow:auto"><div style="height:3000px"></div><slot></slot></div>';
       const list = root.firstChild;
       list.addEventListener('scroll', () => {
         if (p.getBoundingClientRect().top < innerHeight) { p.textContent = 'seen'; list.before(p) }
       })`,
        '<div id=host><p id=p>begun</p></div>',
      ),
      'seen',
    ],
    [
      'what a listener shows that waits for a pause in scrolling is shown',
      scripted(
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
      'seen',
    ],
    // Shows its parts by scrolling what hides its overflow, which a reader cannot scroll.
    [
      'only what a reader can scroll has been scrolled',
      scripted(
        'for (const part of [self, box]) part.onscroll = () => { p.textContent = "moved" }',
        `<style>body { overflow: hidden }</style><div id=box style="height:100vh;overflow:hidden"><p id=p>begun</p>
       <div style="height:1500px"></div><div style="height:50vh;overflow:auto"><div style="height:200vh"></div></div></div>`,
      ),
      'begun',
    ],
    [
      'its server has sent a message',
      scripted(
        `const socket = new WebSocket(location.origin.replace('http', 'ws') + '/greeting');
       socket.onmessage = ({ data }) => { p.textContent = data }`,
      ),
      'hi',
    ],
    [
      'a view transition has ended',
      scripted('document.startViewTransition(() => { p.textContent = "moved" })'),
      'moved',
    ],
    [
      'a script has counted frames',
      scripted(
        'let n = 0; (function turn() { ++n < 100 ? requestAnimationFrame(turn) : (p.textContent = n) })()',
      ),
      '100',
    ],
    [
      'its idle callbacks have run',
      scripted(
        'let n = 0; (function rest() { ++n < 30 ? requestIdleCallback(rest) : (p.textContent = n) })()',
      ),
      '30',
    ],
    [
      'a script has waited in a loop for time to pass',
      scripted(
        `setTimeout(() => {
         const wait = (now) => { const begun = now(); while (now() - begun < 200); };
         wait(() => Date.now());
         wait(() => +new Date());
         wait(() => performance.now());
         p.textContent = 'waited';
       }, 100)`,
      ),
      'waited',
    ],
    [
      'its workers have reported all progress',
      scripted('new Worker("/steps.js").onmessage = ({ data }) => { p.textContent = data }'),
      '15',
    ],
    [
      'only a text cursor blinks',
      '<!doctype html><input autofocus><script>document.title = "cursor"</script>',
      '',
    ],
    [
      'caches have resolved many promises',
      chain(`const cache = await caches.open('store');
    for (let n = 0; n < 40; n++) {
      await cache.put('/' + n, new Response('stored'));
      await (await cache.match('/' + n)).text();
    }`),
      'ended',
    ],
    [
      'pictures have resolved many promises',
      chain(`const canvas = document.createElement('canvas');
    for (let n = 0; n < 30; n++) await new Promise((resolve) => canvas.toBlob(resolve));
    const context = new OffscreenCanvas(9, 9).getContext('2d');
    for (let n = 0; n < 30; n++) await context.canvas.convertToBlob();`),
      'ended',
    ],
  ] as const)('%s', async ([, page, text]) => {
    expect(await read(page)).toMatchObject({ text, settled: true });
  });

  it.for([
    [
      'a CSS animation',
      `<!doctype html><style>@keyframes fade{from{opacity:0}}#box{animation:fade 2s both}</style><body style="margin:0">${SQUARE}<script>setTimeout(() => {}, 10)</script>`,
      50,
    ],
    ['a canvas', BARS, 290],
    [
      'an SVG animation',
      '<!doctype html><body style="margin:0"><svg width=300 height=100><rect width=10 height=100><animate attributeName=width to=300 dur=2s fill=freeze /></rect></svg>',
      290,
    ],
    [
      'an animation of a color',
      `<!doctype html><style>@keyframes k { from { background: #fff } }#box{animation: k 1s forwards}</style><body style="margin:0">${SQUARE}`,
      50,
    ],
    ['an animation in an image', '<!doctype html><body style="margin:0"><img src="/moving.svg">', 90],
    [
      'before it begins, an animation',
      `<!doctype html><style>@keyframes k { to { opacity: 0 } }div{animation: k 1s 10s both}</style><body style="margin:0">${SQUARE}`,
      50,
    ],
    [
      'a canvas that a worker draws',
      scripted(
        'const canvas = c.transferControlToOffscreen(); new Worker("/draws.js").postMessage(canvas, [canvas])',
        '<canvas id=c width=300 height=100></canvas>',
      ),
      290,
    ],
    [
      'an animated image of a page without scripts',
      '<!doctype html><body style="margin:0"><img src="/moving.gif">',
      50,
    ],
  ] as const)('%s has reached its end', async ([, page, x]) => {
    expect((await picture(page)).at(x, 50).slice(0, 3)).toEqual(BLACK);
  });
});

const ON_THE_WAY = (style: string) =>
  `<style>@keyframes k { from { opacity: 0 } } @keyframes out { to { opacity: 0 } }
    div { height: 1800px } b { display: block; height: 100px; background: #000; ${style} }</style><div></div><b></b><div></div>`;

it.for([
  ['enters', 'animation: k linear both; animation-timeline: view(); animation-range: entry'],
  ['leaves', 'animation: out linear both; animation-timeline: view(); animation-range: exit'],
  ['is scrolled to', 'animation: k linear both; animation-timeline: scroll(root); animation-range: 0% 40%'],
] as const)('content that an animation reveals when it %s is visible', async ([, style]) => {
  const shadow = `<p><template shadowrootmode=open>${ON_THE_WAY(style)}</template></p>`;

  for (const content of [ON_THE_WAY(style), shadow]) {
    const drawn = await picture(
      `<!doctype html><body style="margin:0"><style>p { margin: 0 }</style>${content}`,
    );
    expect(drawn.at(50, 1850).slice(0, 3)).toEqual(BLACK);
  }
});

it('a video that is still being sent shows its first frame', async () => {
  const page = scripted(
    'addEventListener("load", () => { v.src = "/video.webm" })',
    '<video id=v width=300 height=100></video>',
  );

  expect((await picture(page)).at(290, 50).slice(0, 3)).toEqual(BLACK);
});

it('the page that a moving page navigates to is captured', async () => {
  expect((await picture(LEAVES_FOR_BARS)).at(290, 50).slice(0, 3)).toEqual(BLACK);
});

it.for([
  ['fits itself to its window', ''],
  [
    'fits itself to its window and never stops moving',
    '; (function turn() { requestAnimationFrame(turn) })()',
  ],
  ['fits itself to its window and polls', "; fetch('/polling')"],
])('a page that %s is captured as it fits', async ([, more]) => {
  // Too short for the request of the last one, so that it also runs out of real time.
  expect((await picture(scripted(FIT + more, FITTED), 1000)).height).toBe(768 + 500);
});

it('a page whose scripts cannot notice the size of the window keeps it', async () => {
  await picture(
    scripted(
      'document.title = "unaware"',
      '<style>@media (min-height: 2000px) { body { background: url(/tall.png) } }</style><div style="height:30000px"></div>',
    ),
  );

  expect(site.asked.map(({ url }) => url)).not.toContain('/tall.png');
});

it('an endless list is read on for a while', async () => {
  expect(Number.parseInt((await read(ENDLESS_LIST)).text, 10)).toBeGreaterThan(30);
});

describe('the wait', () => {
  it('is limited for a page that never stops changing, and the result reports it', async () => {
    expect(await read(ENDLESS)).toMatchObject({
      text: expect.stringMatching(/^ticks!+$/),
      settled: false,
    });
    expect(await read(scripted('fetch("/hang")'), 1000)).toMatchObject({ text: 'begun', settled: false });
  });

  it('ends early for workers, event streams and a poll that is recognized', async () => {
    const page = scripted(
      'new EventSource("/events").onmessage = ({ data }) => { p.textContent = data }; new Worker("/worker.js")',
    );

    expect(await read(page)).toEqual({ text: 'event', settled: true });
    expect(await read(scripted('fetch("/polling?t=1")'))).toEqual({ text: 'begun', settled: true });
  });

  it('ends for style sheets, scripts and images that never arrive', async () => {
    const page =
      '<!doctype html><link rel=stylesheet href="/hang.css"><p>above</p><script src="/hang.js"></script><p>below</p><img src="/hang.png">';

    expect(await read(page, 1000)).toEqual({ text: 'above below', settled: false });
  });
});

it('scripts get a valid language', async () => {
  const page = scripted(
    'p.textContent = [navigator.language, navigator.languages, new Intl.NumberFormat(navigator.language).format(1234.5)].join(" ")',
  );

  expect((await read(page)).text).toBe('en-US en-US,en 1,234.5');
  expect(site.asked.at(-1)?.headers['accept-language']).toBe('en-US,en');
});
