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

/** When the frames of a page that is slow to build came: on the real clock and on the page's own, milliseconds. */
const typeset: { readonly real: number; readonly virtual: number }[] = [];

const site = await usePages({
  '/slow': after(150, 'x'),
  '/ticks': (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let n = 0;
    const timer = setInterval(() => {
      response.write(`data: ${++n}\n\n`);
      if (n === 8) clearInterval(timer);
    }, 250);
  },
  '/worker.js': after(0, 'onmessage = () => setTimeout(() => postMessage("worked"), 400)', 'text/javascript'),
  '/typeset': (request, response) => {
    typeset.push({ real: performance.now(), virtual: Number(request.url!.split('?')[1]) });
    setTimeout(() => response.end(), 20);
  },
  '/hang': () => {},
});

async function read(page: string, settleTime?: number) {
  site.routes['/'] = page;
  const started = Date.now();
  const { text, settled } = await site.pdf(
    '/',
    {},
    settleTime === undefined ? {} : { limits: { settleTime } },
  );
  return { text: text.replaceAll('|', ' ').trim(), settled, time: Date.now() - started };
}

function picture(page: string) {
  site.routes['/'] = page;
  return site.picture('/');
}

describe('a page is converted when', () => {
  it.for([
    [
      'requests in a row have ended',
      scripted(
        `(async () => {
         for (let i = 0; i < 4; i++) {
           await (await fetch("/slow?" + i)).text();
           await new Promise((done) => setTimeout(done, 30));
         }
         p.textContent = "complete";
       })()`,
      ),
      'complete',
    ],
    [
      'what is shown on scrolling is shown, even if it is only watched after a while',
      scripted(
        `fetch('/slow').then(() => new IntersectionObserver(([entry], observer) => {
         if (!entry.isIntersecting) return;
         observer.disconnect();
         p.textContent = 'seen';
       }).observe(p))`,
        '<div style="height:30000px"></div><p id=p>begun</p>',
      ),
      'seen',
    ],
    [
      'its workers have replied',
      scripted(
        'const worker = new Worker("/worker.js"); worker.onmessage = ({ data }) => { p.textContent = data }; worker.postMessage(0)',
      ),
      'worked',
    ],
    [
      'what is shown by a listener for scrolling is shown',
      scripted(
        `addEventListener('scroll', () => {
         if (p.getBoundingClientRect().top < innerHeight) p.textContent = 'seen';
       })`,
        '<div style="height:9000px"></div><p id=p>begun</p>',
      ),
      'seen',
    ],
    [
      'what is shown in the middle of the window is shown',
      scripted(
        `new IntersectionObserver(([entry]) => { if (entry.isIntersecting) p.textContent = 'seen' },
         { rootMargin: '-40% 0px' }).observe(p)`,
        '<div style="height:9000px"></div><p id=p>begun</p><div style="height:500px"></div>',
      ),
      'seen',
    ],
    [
      'what is shown on scrolling inside the body is shown',
      scripted(
        `document.body.addEventListener('scroll', () => {
         if (p.getBoundingClientRect().top < innerHeight) document.body.replaceChildren('seen');
       })`,
        `<style>html { overflow: hidden } html, body { height: 100% } body { overflow: auto }</style>
       <div style="height:3000px"></div><p id=p>begun</p>`,
      ),
      'seen',
    ],
    [
      'its keys are generated',
      scripted(
        `(async () => {
         const pair = await crypto.subtle.generateKey({ name: 'RSA-OAEP', modulusLength: 2048,
           publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }, true, ['encrypt', 'decrypt']);
         p.textContent = pair.publicKey.type;
       })()`,
      ),
      'public',
    ],
    ['a script in a string has run', scripted('setTimeout("p.textContent = 1500", 1500)'), '1500'],
    [
      'its own timeout has ended a request',
      scripted(
        'fetch("/hang", { signal: AbortSignal.timeout(1500) }).catch(() => { p.textContent = "over" })',
      ),
      'over',
    ],
    [
      'its event stream pauses',
      scripted('new EventSource("/ticks").onmessage = ({ data }) => { p.textContent = data }'),
      '8',
    ],
    [
      'what is shown when most of it is in view is shown',
      scripted(
        `new IntersectionObserver(([entry]) => { if (entry.intersectionRatio >= 0.9) p.textContent = 'seen' },
         { threshold: 0.9 }).observe(box)`,
        '<div style="height:2000px"></div><div id=box style="height:80vh"><p id=p>begun</p></div><div style="height:2000px"></div>',
      ),
      'seen',
    ],
    [
      'files have resolved many promises',
      chain(`const folder = await navigator.storage.getDirectory();
    for (let n = 0; n < 40; n++) {
      const file = await folder.getFileHandle(String(n), { create: true });
      await (await file.getFile()).text();
    }`),
      'ended',
    ],
    [
      'transactions have resolved many promises',
      chain(`const database = await new Promise((resolve) => {
      const opening = indexedDB.open('store', 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore('texts');
      opening.onsuccess = () => resolve(opening.result);
    });
    for (let n = 0; n < 60; n++) {
      const writing = database.transaction('texts', 'readwrite');
      writing.objectStore('texts').put('stored', n);
      await new Promise((resolve) => { writing.oncomplete = resolve });
    }`),
      'ended',
    ],
    [
      'computations have resolved many promises',
      chain(`const key = await crypto.subtle.importKey('raw', new Uint8Array(8), 'PBKDF2', false, ['deriveBits']);
    for (let n = 0; n < 4; n++) {
      await crypto.subtle.deriveBits({ name: 'PBKDF2', salt: new Uint8Array(8), iterations: 400000, hash: 'SHA-256' }, key, 256);
    }`),
      'ended',
    ],
    ['a database has stored something', DATABASE, 'stored'],
  ] as const)('%s', async ([name, page, text]) => {
    const runs = /requests|keys|database/.test(name) ? 10 : 1;
    for (let run = 0; run < runs; run++) expect(await read(page)).toMatchObject({ text, settled: true });
  });

  it.for([
    [
      'a CSS transition',
      scripted('requestAnimationFrame(() => { box.style.width = "300px" })', SQUARE).replace(
        '<body',
        '<style>#box{transition:width 3s}</style><body',
      ),
      250,
    ],
    [
      'a Web Animation',
      scripted('box.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 2000, fill: "both" })', SQUARE),
      50,
    ],
    [
      'an animation in a closed shadow tree',
      '<!doctype html><body style="margin:0"><div><template shadowrootmode=closed><style>@keyframes k { from { opacity: 0 } }div{width:100px;height:100px;background:#000;animation: k 1s .5s both}</style><div></div></template></div>',
      50,
    ],
  ] as const)('%s has reached its end', async ([, page, x]) => {
    expect((await picture(page)).at(x, 50).slice(0, 3)).toEqual([0, 0, 0]);
  });
});

describe('a page gets the same result ten times:', () => {
  it('a page that a moving page navigates to', async () => {
    site.routes['/bars'] = BARS;
    for (let run = 0; run < 10; run++)
      expect((await picture(LEAVES_FOR_BARS)).at(290, 50).slice(0, 3)).toEqual([0, 0, 0]);
  });

  it('an endless list', async () => {
    const lengths = [];
    for (let run = 0; run < 10; run++) lengths.push(Number.parseInt((await read(ENDLESS_LIST)).text, 10));

    expect(lengths).toEqual(Array(10).fill(lengths[0]));
  });
});

describe('the wait', () => {
  it('gives a page that is being built as much real time as time of its own', async () => {
    const page = scripted(
      `let n = 0;
       requestAnimationFrame(function add() {
         const request = new XMLHttpRequest();
         request.open('GET', '/typeset?' + performance.now(), false);
         request.send();
         document.body.append(document.createElement('p'));
         p.textContent = ++n;
         if (n < 40) requestAnimationFrame(add);
       })`,
    );

    expect(await read(page)).toMatchObject({ text: '40', settled: true });
    // Without the first frames, which come before the page's clock is stopped.
    const [first, last] = [typeset.at(20)!, typeset.at(-1)!];
    expect(last.virtual - first.virtual).toBeLessThan(1.3 * (last.real - first.real));
  });

  it('is not needed for a page without scripts', async () => {
    await read('<!doctype html><p>still</p>');

    expect((await read('<!doctype html><p>still</p>')).time).toBeLessThan(1500);
  });

  it('takes no longer than its limit', async () => {
    expect((await read(ENDLESS)).time).toBeLessThan(10_000);
  });
});
