import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { ZipFile } from 'yazl';
import { quarters } from '../fixtures/image.ts';
import { readPdf } from '../helpers/pdf.ts';
import { pixel } from '../helpers/pixels.ts';
import { ownService } from '../lab/service.ts';
import { type Answer, refusalIn, urlsIn } from './client.ts';
import { useService } from './use-service.ts';

const used = useService(async () => ({
  'leak.png': await quarters(10, 10).png().toBuffer(),
  'leak.css': 'h1 { color: red }',
  'leak.js': 'document.title = "leaked"',
  'leak.html': '<h1>leaked</h1>',
}));

interface File {
  readonly name: string;
  readonly content: string | Buffer;
}

/** Uploads a page, and assets beside it. */
async function upload(
  parameters: Readonly<Record<string, string>>,
  page: File,
  assets: readonly File[] = [],
): Promise<Answer> {
  const form = new FormData();
  for (const [name, value] of Object.entries(parameters)) form.append(name, value);
  for (const [part, { name, content }] of [['infile', page], ...assets.map((asset) => ['asset', asset])] as [
    string,
    File,
  ][])
    form.append(part, new Blob([new Uint8Array(Buffer.from(content))]), name);
  const { service } = used();
  const headers = { 'X-Api-Key': service.apiKey };
  const response = await fetch(`${service.base}/api/`, { method: 'POST', body: form, headers });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

async function resultOf(answer: Answer): Promise<Buffer> {
  return Buffer.from(await (await fetch(urlsIn(answer, 1)[0]!)).arrayBuffer());
}

async function zip(files: Readonly<Record<string, string | Buffer>>): Promise<Buffer> {
  const archive = new ZipFile();
  for (const [name, content] of Object.entries(files)) archive.addBuffer(Buffer.from(content), name);
  archive.end();
  return buffer(archive.outputStream);
}

const PDF = { app: 'html2pdf', outfile: 'a.pdf' };
const IMAGE = { app: 'html2image', outfile: 'a.png', '--width': '100', '--height': '100' };
const green = `<svg xmlns="http://www.w3.org/2000/svg" width="100" height="50"><rect width="100" height="50" fill="#0a0"/></svg>`;
const PAGE =
  '<link rel="stylesheet" href="css/style.css?v=2"><body style="margin:0"><img src="./images/my%20picture.svg" style="display:block"><p>';
const STYLE = 'body { background: url(../images/below.svg) 0 50px }';
const FILES = [
  { name: 'css/style.css', content: STYLE },
  { name: './images/my picture.svg', content: green },
  { name: 'images\\below.svg', content: green.replace('#0a0', '#00f') },
];

describe.runIf(ownService)('an uploaded page (needs a service of one machine)', () => {
  it.each([
    ['without a declared encoding', '<p>Größe 図'],
    ['with a declared encoding', Buffer.from('<meta charset="iso-8859-1"><p>Gr\xf6\xdfe', 'latin1')],
  ])('%s is converted', async (_, content) => {
    const { pages } = await readPdf(await resultOf(await upload(PDF, { name: 'a.html', content })));

    expect(pages[0]!.text).toMatch(/^Größe/);
  });

  it('is HTML whatever its name is', async () => {
    const { pages } = await readPdf(
      await resultOf(await upload(PDF, { name: '', content: '<h1>Title</h1>' })),
    );

    expect(pages[0]!.text).toBe('Title');
  });

  it('loads its assets by their paths', async () => {
    const bytes = await resultOf(await upload(IMAGE, { name: 'page.html', content: PAGE }, FILES));

    expect(await pixel(bytes, 50, 25)).toEqual([0, 170, 0, 255]);
    expect(await pixel(bytes, 50, 75)).toEqual([0, 0, 255, 255]);
  });

  it('finds a name with an accent however it is written, and keeps the first of several files', async () => {
    const picture = { name: 'ho\u0302tel.svg', content: green };
    const page = { name: 'page.html', content: '<body style="margin:0"><img src="h\u00f4tel.svg">' };
    const others = [
      { name: 'page.html', content: '<body style="background:red">' },
      { name: 'h\u00f4tel.svg', content: green.replace('#0a0', '#f00') },
    ];

    const bytes = await resultOf(await upload(IMAGE, page, [picture, ...others]));

    expect(await pixel(bytes, 50, 25)).toEqual([0, 170, 0, 255]);
  });

  it.each(['', 'site/'])('is index.html in an archive, in the folder %j', async (folder) => {
    const content = await zip({
      [`${folder}index.html`]: PAGE,
      [`${folder}css/style.css`]: STYLE,
      [`${folder}images/my picture.svg`]: green,
      [`${folder}images/below.svg`]: green.replace('#0a0', '#00f'),
      [`${folder}other/deep/index.html`]: '<body style="background:red">',
    });

    const bytes = await resultOf(await upload(IMAGE, { name: 'site.zip', content }));

    expect(await pixel(bytes, 50, 25)).toEqual([0, 170, 0, 255]);
    expect(await pixel(bytes, 50, 75)).toEqual([0, 0, 255, 255]);
  });

  it('must be in the archive', async () => {
    const content = await zip({ 'page.html': 'x' });

    const { code, message } = refusalIn(await upload(PDF, { name: 'site.zip', content }));

    expect([code, message]).toEqual([
      'UNSUPPORTED_SOURCE',
      'The archive must contain the page as index.html.',
    ]);
  });

  it('reaches no file of another conversion or of the machine', async () => {
    const frames = ['/etc/hostname', 'file:///etc/hostname', '../upload-0', 'http://upload.invalid:81/x'].map(
      (url) => `<iframe src="${url}"></iframe>`,
    );

    const { pages } = await readPdf(
      await resultOf(await upload(PDF, { name: 'a.html', content: `<p>start${frames.join('')}` })),
    );

    expect(pages.map(({ text }) => text).join('')).toBe('start');
  });

  const leaks = (url: (path: string) => string) => `<title>Page</title>
    <link rel="stylesheet" href="${url('leak.css')}"><link rel="prefetch" href="${url('leak.html')}">
    <link rel="preconnect" href="${url('')}"><img src="${url('leak.png')}"><iframe src="${url('leak.html')}"></iframe>
    <object data="${url('leak.html')}"></object><script src="${url('leak.js')}"></script>
    <video src="${url('leak.png')}"></video>
    <style>@import url(${url('leak.css')}); @font-face { font-family: x; src: url(${url('leak.png')}) } p { font-family: x }</style>
    <p>start<script>
      const url = ${JSON.stringify(url(''))};
      fetch(url + 'leak.png', { mode: 'no-cors' }).catch(() => {});
      navigator.sendBeacon(url + 'leak.png', 'x');
      new WebSocket(url.replace('http', 'ws')); new EventSource(url + 'leak.html');
      const worker = new Worker(URL.createObjectURL(new Blob(['fetch("' + url + 'leak.png", { mode: "no-cors" })'])));
      const { host } = new URL(url);
      const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:' + host }, { urls: 'turn:' + host + '?transport=tcp', username: 'a', credential: 'b' }] });
      peer.createDataChannel('x'); peer.createOffer().then((offer) => peer.setLocalDescription(offer));
      open(url + 'leak.html');
    </script>`;

  it('reaches nothing on the network', async () => {
    const { sources } = used();
    const before = sources.asked.length;
    const content = leaks((path) => sources.urlOf(path));

    const answer = await upload({ ...PDF, '--javascript-delay': '1500' }, { name: 'a.html', content });

    expect((await readPdf(await resultOf(answer))).pages[0]!.text).toContain('start');
    await setTimeout(500);
    expect(sources.asked.slice(before)).toEqual([]);
  });

  it('reaches the network with --enable-network, through the egress guard', async () => {
    const { sources } = used();
    const before = sources.asked.length;
    const content = `<img src="${sources.urlOf('leak.png')}"><img src="http://127.0.0.1:1/x.png"><p>start`;

    await resultOf(await upload({ ...PDF, '--enable-network': '' }, { name: 'a.html', content }));

    expect(sources.asked.slice(before)).toEqual(['leak.png']);
  });

  it('cannot navigate to the network', async () => {
    const { sources } = used();
    const before = sources.asked.length;
    const content = `<meta http-equiv="refresh" content="0;url=${sources.urlOf('leak.html')}">`;

    const { code, message } = refusalIn(await upload(PDF, { name: 'a.html', content }));

    expect([code, message]).toEqual([
      'BLOCKED_ADDRESS',
      'An uploaded page reaches the network only with --enable-network.',
    ]);
    expect(sources.asked.slice(before)).toEqual([]);
  });

  it('may have a cover from the network', async () => {
    const { sources } = used();
    const parameters = { ...PDF, '--cover': sources.urlOf('leak.html') };

    const { pages } = await readPdf(
      await resultOf(await upload(parameters, { name: 'a.html', content: 'x' })),
    );

    expect(pages.map(({ text }) => text)).toEqual(['leaked', 'x']);
  });

  it('can be a data URL, also in a GET', async () => {
    const bytes = await used().client.convert({
      ...IMAGE,
      infile: 'data:text/html,<body style="background:#0a0"><p>1+1?a=b&c',
    });

    expect(await pixel(bytes.bytes, 90, 90)).toEqual([0, 170, 0, 255]);
    expect((await sharp(bytes.bytes).metadata()).width).toBe(100);
  });
});

describe.runIf(ownService)('assets (needs a service of one machine)', () => {
  it.each([
    ['../a.png', { ...PDF }],
    ['a/../../b.png', { ...PDF }],
    ['a.png', { app: 'doc2any', outfile: 'a.pdf' }],
  ])('named %s are rejected for %j', async (name, parameters) => {
    const page = { name: 'a.html', content: '<p>x' };

    const { code } = refusalIn(await upload(parameters, page, [{ name, content: 'x' }]));

    expect(code).toBe('BAD_PARAMETER');
  });

  it('and --enable-network have no effect on a URL', async () => {
    const { headers } = await used().client.ask({
      ...IMAGE,
      infile: used().sources.urlOf('leak.html'),
      '--enable-network': '',
    });

    expect(headers.get('x-ignored-options')).toBe('--enable-network');
  });
});
