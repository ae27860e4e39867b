import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { servePages } from '../page-server.ts';
import { usePages } from '../use-pages.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const answer =
  (status: number, headers: Record<string, string>, body = ''): Handler =>
  (_request, response) =>
    void response.writeHead(status, headers).end(body);

const html = { 'content-type': 'text/html' };

/** Opens a WebSocket and sends nothing. */
const greetSocket: Handler = ({ headers, socket }) => {
  const accept = createHash('sha1')
    .update(`${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
};

const other = await servePages({
  '/': '<p>other</p>',
  '/image': answer(200, { 'content-type': 'image/svg+xml' }, '<svg/>'),
});
afterAll(() => other.close());
const gone = await servePages({});
await gone.close();
const site = await usePages(
  {
    '/': '<!doctype html><p>Hello</p>',
    '/404': answer(404, html, '<p>not found, nicely said</p>'),
    '/500': answer(500, html),
    '/204': answer(204, {}),
    '/206': answer(206, html, '<p>part</p>'),
    '/401': answer(401, { ...html, 'www-authenticate': 'Basic' }),
    '/cookies': answer(200, { ...html, 'set-cookie': `a=${'x'.repeat(140_000)}` }, '<p>page</p>'),
    '/refresh': '<p>wait</p><meta http-equiv=refresh content="9;url=/">',
    '/refresh-header': answer(200, { ...html, refresh: '8; url=/' }, '<p>wait</p>'),
    '/refresh-self': '<p>reloads</p><meta http-equiv=refresh content="5">',
    '/refresh-late': '<p>wait</p><meta http-equiv=refresh content="60;url=/">',
    '/zip': answer(200, { 'content-type': 'application/zip' }, 'PK'),
    '/attachment': answer(200, { ...html, 'content-disposition': 'attachment; filename=x.html' }, '<p>x</p>'),
    '/reset': (request) => void request.socket.resetAndDestroy(),
    '/to-file': answer(302, { location: 'file:///etc/passwd' }),
    '/to-private': answer(302, { location: 'http://10.0.0.1/' }),
    '/to-script-private': '<script>location = "http://10.0.0.1/"</script>',
    '/loop': answer(302, { location: '/loop' }),
    '/text': answer(200, { 'content-type': 'text/plain' }, 'plain text'),
    '/broken-image': '<p>page</p><img src="/nothing">',
    '/private-image': '<p>page</p><img src="http://10.0.0.1/">',
    '/private-style': '<p>page</p><link rel=stylesheet href="http://10.0.0.1/">',
    '/moved': answer(301, { location: '/' }),
    '/parts': `<p>parts</p><img src="/own.svg"><img src="http://127.0.0.1:${other.port}/image">
      <script>fetch("/fetched"); fetch("http://127.0.0.1:${other.port}/", { mode: "no-cors" })</script>`,
    '/own.svg': answer(200, { 'content-type': 'image/svg+xml' }, '<svg/>'),
    '/redirect': answer(302, { location: `http://127.0.0.1:${other.port}/` }),
    '/image-away': `<p>p</p><img src="/away">`,
    '/away': answer(302, { location: `http://127.0.0.1:${other.port}/image` }),
    '/dialogs':
      '<p id=p>begun</p><script>for (let i = 0; i < 20; i++) { alert(i); confirm(i); prompt(i) } p.textContent = "over"; onbeforeunload = () => "stay"</script>',
    '/popups':
      '<p id=p></p><a id=a target=_blank href="/">x</a><script>let n = 0; for (let i = 0; i < 50; i++) n += open("/popped") ? 1 : 0; a.click(); p.textContent = "opened " + n</script>',
    '/download':
      '<p>page</p><a id=a download=x.txt href="/text">x</a><script>a.click(); location = "/zip"</script>',
    '/permissions':
      '<p id=p></p><script>Promise.allSettled([Notification.requestPermission(), new Promise((y, n) => navigator.geolocation.getCurrentPosition(y, n))]).then((all) => { p.textContent = "asked " + all.map((one) => one.value ?? one.reason.code) })</script>',
    '/print': '<p>page</p><script>print(); close(); stop()</script>',
    '/remember':
      '<p id=p></p><script>p.textContent = document.cookie + "/" + (localStorage.seen ?? "new"); document.cookie = "seen=1"; localStorage.seen = "seen"</script>',
    '/socket':
      '<p id=p>closed</p><script>onload = () => { const s = new WebSocket(location.origin.replace("http", "ws") + "/greet"); s.onopen = () => { p.textContent = "open" } }</script>',
    '/greet': greetSocket,
    '/restless': '<p>x</p><meta http-equiv=refresh content=0>',
    '/bare': '<p>x</p><script>document.documentElement.remove()</script>',
    '/tamper':
      '<p>kept</p><script>document.querySelectorAll = () => { throw 1 }; JSON.stringify = () => ""; Symbol.for = () => { throw 1 }; performance.now = () => NaN; globalThis.Promise = null; Object.defineProperty(document, "fonts", { get() { throw 1 } }); Object.defineProperty(document.documentElement, "scrollWidth", { value: 1e9 })</script>',
    '/spin': '<p>x</p><script>for (;;);</script>',
    '/files':
      '<p id=p>none</p><iframe src="file:///etc/passwd"></iframe><script>fetch("file:///etc/passwd").then(() => { p.textContent = "read" }, () => {})</script>',
  },
  [other, gone],
);

beforeEach(() => {
  site.asked.length = 0;
  other.asked.length = 0;
});

const text = async (...request: Parameters<typeof site.pdf>) => (await site.pdf(...request)).text;

describe('a missing page', () => {
  it.for([
    ['/404', 'SOURCE_STATUS', 'The page returned status 404.'],
    ['/500', 'SOURCE_STATUS', 'The page returned status 500.'],
    ['/401', 'SOURCE_STATUS', 'The page returned status 401. Set --username and --password.'],
    ['/204', 'CORRUPT_SOURCE', 'The page is empty.'],
    ['/zip', 'UNSUPPORTED_SOURCE', "The URL points to a file of type 'application/zip', not to a web page."],
    ['/reset', 'SOURCE_UNREACHABLE', 'The source server could not be reached: the connection was closed.'],
    ['/loop', 'SOURCE_UNREACHABLE', 'The page could not be reached: too many redirects.'],
    ['/to-file', 'SOURCE_UNREACHABLE', /redirects to a URL that is not http or https/],
    ['/to-private', 'BLOCKED_ADDRESS', /public internet/],
    ['/to-script-private', 'BLOCKED_ADDRESS', /public internet/],
  ] as const)('is an error: %s is %s', async ([path, code, message]) => {
    const failed = text(path);

    await expect(failed).rejects.toMatchObject({
      code,
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    });
  });

  it('is blocked by the guard before a browser opens it', async () => {
    for (const address of [
      'http://169.254.169.254/latest/',
      'http://localhost/',
      `http://[::1]:${site.port}/`,
    ]) {
      await expect(text(address)).rejects.toMatchObject({ code: 'BLOCKED_ADDRESS' });
    }
    await expect(text('file:///etc/passwd')).rejects.toMatchObject({ code: 'BAD_ADDRESS' });
  });

  it('without a server is unreachable', async () => {
    await expect(text(gone.origin)).rejects.toMatchObject({
      code: 'SOURCE_UNREACHABLE',
      message: 'The source server could not be reached: the connection was refused.',
    });
  });

  it('is converted anyway if errors are ignored', async () => {
    expect(await text('/404', { '--load-error-handling': 'ignore' })).toBe('not found, nicely said');
    expect(await text('/text')).toBe('plain text');
  });

  it('ignores failed resources unless told otherwise', async () => {
    expect(await text('/broken-image')).toBe('page');
    await expect(text('/broken-image', { '--load-media-error-handling': 'abort' })).rejects.toMatchObject({
      code: 'SOURCE_STATUS',
      message: expect.stringMatching(
        /^A resource on the page failed to load: 'http:\/\/[\w.:]+\/[\w.]+' \(status 404\)\.$/,
      ),
    });
  });

  it('fails on blocked IP addresses, but not on images that the caller turned off', async () => {
    const abort = { '--load-media-error-handling': 'abort' };

    expect(await text('/broken-image', { ...abort, '--no-images': '' })).toBe('page');
    await expect(text('/private-image', abort)).rejects.toMatchObject({ code: 'SOURCE_STATUS' });
    await expect(text('/private-style', { ...abort, '--no-images': '' })).rejects.toMatchObject({
      code: 'SOURCE_STATUS',
    });
  });

  it('fails on the status of a redirect on request', async () => {
    expect(await text('/moved', { '--fail-on-status': '302,4xx' })).toBe('Hello');
    await expect(text('/moved', { '--fail-on-status': '3xx' })).rejects.toMatchObject({
      code: 'SOURCE_STATUS',
      message: expect.stringContaining('status 301'),
    });
  });
});

describe('a page', () => {
  it('may open a WebSocket to its own server', async () => {
    expect(await text('/socket')).toBe('open');
  });

  it('may be sent as a part, as an attachment, or with long headers', async () => {
    expect(await text('/206')).toBe('part');
    expect(await text('/attachment')).toBe('x');
    expect(await text('/attachment', { '--custom-header': 'a:b' })).toBe('x');
    expect(await text('/cookies')).toBe('page');
  });

  it('may be replaced by another one within ten seconds', async () => {
    expect(await text('/refresh')).toBe('Hello');
    expect(await text('/refresh-header')).toBe('Hello');
    expect(await text('/refresh-late')).toBe('wait');
    expect(await text('/refresh-self')).toBe('reloads');
  });

  it('must not redirect forever', async () => {
    await expect(text('/restless')).rejects.toMatchObject({
      code: 'SOURCE_UNREACHABLE',
      message: 'Too many client-side redirects.',
    });
  });

  it('may remove its document, or tamper with the DOM', async () => {
    expect(await text('/bare')).toBe('');
    expect(await text('/tamper')).toBe('kept');
  });

  it('without TLS is unreachable over https', async () => {
    const failed = text(`https://127.0.0.1:${site.port}/`);

    await expect(failed).rejects.toMatchObject({
      code: 'SOURCE_UNREACHABLE',
      message: 'The page could not be reached: its certificate is invalid or the TLS connection failed.',
    });
  });
});

describe("the caller's headers", () => {
  const query = {
    '--custom-header': ['X-Secret: one', 'X-Other:two'],
    '--cookie': ['session:abc', 'theme:dark'],
    '--username': 'user',
    '--password': 'pass:word',
    '--user-agent': 'robot/1',
  };

  it("are sent with all requests to the page's own origin", async () => {
    await text('/parts', query);

    const own = site.asked.filter(({ url }) => url !== '/favicon.ico');
    expect(own.map(({ url }) => url).sort()).toEqual(['/fetched', '/own.svg', '/parts']);
    for (const { headers } of own) {
      expect(headers).toMatchObject({
        'x-secret': 'one',
        'x-other': 'two',
        cookie: 'session=abc; theme=dark',
        authorization: `Basic ${Buffer.from('user:pass:word').toString('base64')}`,
        'user-agent': 'robot/1',
      });
    }
  });

  it.for(['/parts', '/redirect', '/image-away'])('are not sent to other origins: %s', async (path) => {
    await text(`${path}?token=two`, query);

    expect(other.asked.length).toBeGreaterThan(0);
    for (const { headers } of other.asked) {
      expect([undefined, `${site.origin}/`]).toContain(headers.referer);
      expect(headers).not.toHaveProperty('x-secret');
      expect(headers).not.toHaveProperty('authorization');
      expect(JSON.stringify(headers)).not.toMatch(/abc|dark|dXNlcj|"two"/);
    }
  });

  it('can be credentials in the URL', async () => {
    await text(`http://us%40er:pass@127.0.0.1:${site.port}/`);

    const authorization = `Basic ${Buffer.from('us@er:pass').toString('base64')}`;
    expect(site.asked[0]!.headers.authorization).toBe(authorization);
  });

  it('must be valid, and not set by the connection', async () => {
    for (const header of [
      'Host: evil',
      'no colon',
      'X: a\r\nY: b',
      'Content-Length: 5',
      'Keep-Alive: timeout=5',
      'Proxy-Authorization: x',
    ]) {
      await expect(text('/', { '--custom-header': [header] })).rejects.toMatchObject({
        code: 'BAD_PARAMETER',
      });
    }
  });

  it('have defaults, and images can be disabled', async () => {
    await text('/parts', { '--no-images': '' });

    expect(site.asked.map(({ url }) => url).sort()).not.toContain('/own.svg');
    expect(site.asked[0]!.headers['user-agent']).toMatch(/Chrome\/153.* docmill\/0.1$/);
    expect(site.asked[0]!.headers['cdn-loop']).toBe('docmill');
  });
});

describe('a page that does more than show content', () => {
  it('has its dialogs dismissed', async () => {
    expect(await text('/dialogs')).toBe('over');
  });

  it('cannot open windows', async () => {
    expect(await text('/popups')).toMatch(/^opened 0/);
    expect(site.asked.map(({ url }) => url)).not.toContain('/popped');
  });

  it('cannot download files', async () => {
    const { path, text: shown } = await site.pdf('/download');

    expect(shown).toMatch(/^page/);
    const files = await readdir(join(path, '../..'), { recursive: true });
    expect(files.filter((file) => /x\.txt|\.zip|download/i.test(file))).toEqual([]);
  });

  it('gets no permissions', async () => {
    expect(await text('/permissions')).toMatch(/^asked (denied|default),1$/);
  });

  it('cannot read files', async () => {
    expect(await text('/files')).toBe('none');
  });

  it('cannot print or close itself', async () => {
    expect(await text('/print')).toBe('page');
  });
});

describe('the next page', () => {
  it('sees no state of the previous one', async () => {
    expect([await text('/remember'), await text('/remember')]).toEqual(['/new', '/new']);
  });

  it('works after one that never finished', async () => {
    await expect(text('/spin', {}, { time: 2000 })).rejects.toMatchObject({
      code: 'TIMED_OUT',
    });

    expect(await text('/')).toBe('Hello');
  });
});
