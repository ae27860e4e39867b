import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { launch } from 'puppeteer-core';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { quarters } from '../fixtures/image.ts';
import { makePdf, numberedPages } from '../fixtures/pdf.ts';
import { readPdf } from '../helpers/pdf.ts';
import { ownService } from '../lab/service.ts';
import { refusalIn, urlsIn } from './client.ts';
import { useService } from './use-service.ts';

const run = promisify(execFile);
const used = useService(() => ({ 'form.html': '<!doctype html><title>Form</title>' }));

let directory: string;
let picture: Buffer;
let document: Buffer;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uploads-'));
  picture = await quarters(40, 30).png().toBuffer();
  document = await readFile(join(import.meta.dirname, '../fixtures/office/text.docx'));
  await writeFile(join(directory, 'a.png'), picture);
  await writeFile(join(directory, 'letter.docx'), document);
  await writeFile(join(directory, 'report.pdf'), makePdf(numberedPages(3)));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const file = (name: string) => join(directory, name);
const api = (query = '') => `${used().service.base}/api/${query}`;
const key = () => used().service.apiKey;

/** Downloads the only result in a body. */
async function resultIn(body: string): Promise<Buffer> {
  const [url] = urlsIn(
    { status: 200, headers: new Headers({ 'content-type': 'text/plain; charset=utf-8' }), body },
    1,
  );
  return Buffer.from(await (await fetch(url!)).arrayBuffer());
}

async function sizeIn(body: string): Promise<string> {
  const { width, height, format } = await sharp(await resultIn(body)).metadata();
  return `${width}x${height} ${format}`;
}

const IMAGE = '?app=imageproc&outfile=b.jpg&-resize=20x10!';
const PARAMETERS = { app: 'imageproc', outfile: 'b.jpg', '-resize': '20x10!' };

describe.runIf(ownService)('curl (needs a service of one machine)', () => {
  const curl = async (...args: string[]) => (await run('curl', ['-sS', '-g', ...args])).stdout;
  const fields = () => Object.entries(PARAMETERS).flatMap(([name, value]) => ['-F', `${name}=${value}`]);

  it.each([
    ['before', true],
    ['after', false],
  ])('sends a file with -F, and the parameters %s it', async (_, isBefore) => {
    const source = ['-F', `infile=@${file('a.png')}`];
    const parts = isBefore ? [...fields(), ...source] : [...source, ...fields()];

    const body = await curl('-H', `X-Api-Key: ${key()}`, ...parts, api());

    expect(await sizeIn(body)).toBe('20x10 jpeg');
  });

  it('sends the key as the first field', async () => {
    const body = await curl('-F', `apikey=${key()}`, ...fields(), '-F', `infile=@${file('a.png')}`, api());

    expect(await sizeIn(body)).toBe('20x10 jpeg');
  });

  it('sends a file with -T, whose name helps to recognize it', async () => {
    await writeFile(file('table.csv'), 'a;b\n1;2\n');

    const body = await curl('-u', `x:${key()}`, '-T', file('table.csv'), api('?app=doc2any&outfile=t.pdf'));

    const { pages } = await readPdf(await resultIn(body));
    expect(pages[0]!.text).toMatch(/a b 1 2$/);
  });

  it.each(['Content-Type: image/png', 'Content-Type: application/x-www-form-urlencoded'])(
    'sends a file with --data-binary and %s',
    async (type) => {
      const source = ['--data-binary', `@${file('a.png')}`];

      const body = await curl('-H', type, '-H', `Authorization: Bearer ${key()}`, ...source, api(IMAGE));

      expect(await sizeIn(body)).toBe('20x10 jpeg');
    },
  );

  it('may send a POST without a body', async () => {
    const query = new URLSearchParams({
      ...PARAMETERS,
      infile: `data:image/png;base64,${picture.toString('base64')}`,
    });

    const body = await curl('-X', 'POST', '-H', `X-Api-Key: ${key()}`, api(`?${query}`));

    expect(await sizeIn(body)).toBe('20x10 jpeg');
  });

  it('sends a data URL with --data-urlencode', async () => {
    const data = `infile=data:image/png;base64,${picture.toString('base64')}`;
    const others = Object.entries(PARAMETERS).flatMap(([name, value]) => ['-d', `${name}=${value}`]);

    const body = await curl('-H', `X-Api-Key: ${key()}`, '--data-urlencode', data, ...others, api());

    expect(await sizeIn(body)).toBe('20x10 jpeg');
  });
});

describe.runIf(ownService)('-append (needs a service of one machine)', () => {
  it('merges files of all kinds, each converted by its own tool', async () => {
    const form = new FormData();
    const fields = { app: 'pdftools', outfile: 'all.pdf', _response: 'file', apikey: key() };
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append('infile', new Blob([new Uint8Array(document)]), 'letter.docx');
    form.append('-append', new Blob([new Uint8Array(picture)]), 'a.png');
    form.append('-append', 'data:text/html,<p>Hello');
    form.append('-append', new Blob([new Uint8Array(makePdf(numberedPages(2)))]), 'report.pdf');

    const response = await fetch(api(), { method: 'POST', body: form });

    const { pages } = await readPdf(new Uint8Array(await response.arrayBuffer()));
    expect(pages.slice(-4).map(({ text }) => text)).toEqual(['', 'Hello', 'Page 1', 'Page 2']);
    expect(Math.round(pages.at(-4)!.width)).toBe(842);
  });
});

describe.runIf(ownService)('a file for an option of a page (needs a service of one machine)', () => {
  it('is a cover, a header or a style sheet', async () => {
    const form = new FormData();
    const fields = { app: 'html2pdf', outfile: 'all.pdf', _response: 'file', apikey: key() };
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append('infile', new Blob(['<p>Page<p hidden>Hidden']), 'page.html');
    form.append('--cover', new Blob(['<p>Cover']), 'cover.html');
    form.append('--header-html', new Blob(['<p>Header']), 'header.html');
    form.append('--user-style-sheet', 'data:text/css,[hidden]{display:block}');

    const response = await fetch(api(), { method: 'POST', body: form });

    const { pages } = await readPdf(new Uint8Array(await response.arrayBuffer()));
    expect(pages.map(({ text }) => text.split(' ').sort().join(' '))).toEqual([
      'Cover',
      'Header Hidden Page',
    ]);
  });

  it('can be a long text in JSON or in a form', async () => {
    const long = (text: string) => `<p>${text}<!--${'é'.repeat(20_000)}-->`;
    const parameters = {
      app: 'html2pdf',
      outfile: 'a.pdf',
      _response: 'file',
      infile: `data:text/html,${long('Page')}<p hidden>Hidden`,
      '--header-html': long('1+1'),
      '--user-style-sheet': `[hidden]{display:block}/*${'a'.repeat(70_000)}*/`,
    };
    const headers = { 'X-Api-Key': key() };
    const json = { 'Content-Type': 'application/json', ...headers };

    const responses = [
      await fetch(new URL('/api/json', api()), {
        method: 'POST',
        headers: json,
        body: JSON.stringify(parameters),
      }),
      await fetch(api(), { method: 'POST', headers, body: new URLSearchParams(parameters) }),
    ];

    for (const response of responses) {
      const { pages } = await readPdf(new Uint8Array(await response.arrayBuffer()));
      expect(pages.map(({ text }) => text.split(' ').sort().join(' '))).toEqual(['1+1 Hidden Page']);
    }
  });
});

describe.runIf(ownService)('other clients (needs a service of one machine)', () => {
  it('wget sends a file with --post-file', async () => {
    const headers = [`--header=X-Api-Key: ${key()}`];

    const { stdout } = await run('wget', ['-qO-', ...headers, `--post-file=${file('a.png')}`, api(IMAGE)]);

    expect(await sizeIn(stdout)).toBe('20x10 jpeg');
  });

  it("Python's urllib sends a body and a form", async () => {
    const script = `
import sys, urllib.parse, urllib.request
url, key, path = sys.argv[1:]
def send(url, data, **headers):
    request = urllib.request.Request(url, data, {"X-Api-Key": key, **headers})
    print(urllib.request.urlopen(request).read().decode())
send(url + "?app=imageproc&outfile=b.jpg&-resize=20x10!", open(path, "rb").read())
send(url, urllib.parse.urlencode({"app": "html2pdf", "outfile": "b.pdf", "infile": "data:text/html,<p>1+1 \\u00e9"}).encode())`;

    const { stdout } = await run('python3', ['-c', script, api(), key(), file('a.png')]);

    const [first, second] = stdout.trim().split('\n') as [string, string];
    expect(await sizeIn(first)).toBe('20x10 jpeg');
    expect((await readPdf(await resultIn(second))).pages[0]!.text).toBe('1+1 é');
  });

  // As PHP 8.2 with curl 7.88 and requests 2.34 sent them, with the key of another service.
  it.each([
    ['PHP, CURLOPT_POSTFIELDS with an array', 'php-curl-array'],
    ['PHP, CURLOPT_POSTFIELDS with a query', 'php-curl-query'],
    ['PHP, CURLOPT_PUT', 'php-curl-put'],
    ['PHP, a stream context', 'php-stream'],
    ["Python's requests, files", 'requests-files'],
    ["Python's requests, a form", 'requests-data'],
    ["Python's requests, an open file", 'requests-body'],
    ["Python's requests, a generator", 'requests-chunks'],
  ])('the recorded bytes of %s arrive', async (_, name) => {
    const recorded = await readFile(join(import.meta.dirname, `../fixtures/clients/${name}.http`), 'latin1');
    const other = 'KEY____-_______-_______-_______';
    const basic = (apiKey: string) => Buffer.from(`:${apiKey}`).toString('base64');
    const sent = recorded.replace(other, key()).replace(basic(other), basic(key()));
    const { port } = new URL(api());
    const socket = connect(Number(port), '127.0.0.1');

    socket.write(sent, 'latin1');
    let received = '';
    for await (const chunk of socket.setEncoding('latin1')) {
      received += chunk;
      if (/<br>$|\)$/.test(received)) break;
    }

    expect(sent).not.toContain('KEY_');
    const head = received.lastIndexOf('\r\n\r\n');
    expect(received.slice(0, head)).toContain('HTTP/1.1 200 OK');
    // The service names itself as the caller did.
    const body = received.slice(head + 4).replace('127.0.0.1:18099', `127.0.0.1:${port}`);
    expect(await sizeIn(body)).toBe('20x10 jpeg');
  });

  it('fetch of Node sends a FormData and a stream', async () => {
    const form = new FormData();
    for (const [name, value] of Object.entries(PARAMETERS)) form.append(name, value);
    form.append('infile', new Blob([new Uint8Array(picture)]), 'größe.png');
    const headers = { 'X-Api-Key': key() };
    const stream = new Blob([new Uint8Array(picture)]).stream();

    const posted = await fetch(api(), { method: 'POST', body: form, headers });
    const put = await fetch(api(IMAGE), {
      method: 'PUT',
      body: stream,
      headers,
      duplex: 'half',
    } as RequestInit);

    expect(await sizeIn(await posted.text())).toBe('20x10 jpeg');
    expect(await sizeIn(await put.text())).toBe('20x10 jpeg');
  });

  it("a browser's FormData arrives", async () => {
    const browser = await launch({
      executablePath: join(import.meta.dirname, '../../dist/layers/chromium/chromium'),
      args: ['--no-sandbox', '--disable-web-security'],
    });
    try {
      const page = await browser.newPage();
      await page.goto(used().sources.urlOf('form.html'));
      const body = await page.evaluate(
        async (url, apiKey, bytes, parameters) => {
          const form = new FormData();
          form.append('apikey', apiKey);
          form.append('infile', new File([new Uint8Array(bytes)], 'a.png'));
          for (const [name, value] of Object.entries(parameters)) form.append(name, value);
          return (await fetch(url, { method: 'POST', body: form })).text();
        },
        api(),
        key(),
        [...picture],
        PARAMETERS,
      );

      expect(await sizeIn(body)).toBe('20x10 jpeg');
    } finally {
      await browser.close();
    }
  });

  it.each([
    ['quoted', 'form-data; name="infile"; filename="a.png"; filename*=utf-8\'\'a.png', '"0cbf7f5e"'],
    ['unquoted', "form-data; name=infile; filename=a.png; filename*=utf-8''a.png", '0cbf7f5e'],
  ])('the bytes of PowerShell -Form arrive, with %s names', async (_, disposition, boundary) => {
    const fields = Object.entries(PARAMETERS).map(
      ([name, value]) =>
        `--0cbf7f5e\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name=${name}\r\n\r\n${value}\r\n`,
    );
    const head = `--0cbf7f5e\r\nContent-Type: application/octet-stream\r\nContent-Disposition: ${disposition}\r\n\r\n`;
    const body = Buffer.concat([
      Buffer.from(fields.join('') + head),
      picture,
      Buffer.from('\r\n--0cbf7f5e--\r\n'),
    ]);

    const response = await fetch(api(), {
      method: 'POST',
      body: new Uint8Array(body),
      headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}`, 'X-Api-Key': key() },
    });

    expect(await sizeIn(await response.text())).toBe('20x10 jpeg');
  });
});

describe.runIf(ownService)('an upload (needs a service of one machine)', () => {
  it.each([
    ['doc2any', 'letter.docx', 'a.pdf'],
    ['pdftools', 'report.pdf', 'a.png'],
    ['imageproc', 'a.png', 'a.webp'],
  ])('is the source of %s', async (app, name, outfile) => {
    const body = new Uint8Array(await readFile(file(name)));
    const headers = { 'X-Api-Key': key() };

    const response = await fetch(api(`?app=${app}&outfile=${outfile}`), { method: 'POST', body, headers });

    expect((await resultIn(await response.text())).length).toBeGreaterThan(200);
  });

  it('without a valid key gets 401, whether or not its body was read', async () => {
    const body = new Uint8Array(30_000_000);

    const response = await fetch(api(IMAGE), { method: 'POST', body, headers: { 'X-Api-Key': 'wrong' } });

    expect(response.status).toBe(401);
    // API Gateway renames it.
    const name = ['www-authenticate', 'x-amzn-remapped-www-authenticate'].find((each) =>
      response.headers.has(each),
    );
    expect(response.headers.get(name ?? '')).toMatch(/^Bearer .*Basic /);
    expect(await response.text()).toMatch(/^\[ERROR\] Please provide a valid APIKEY\. /);
  });

  it.each([
    ['SOURCE_TOO_LARGE', IMAGE, new Uint8Array(50_000_001)],
    ['UNKNOWN_PARAMETER', `${IMAGE}&-rezise=1`, new Uint8Array(40_000_000)],
    ['BAD_PARAMETER', `${IMAGE}&infile=https://example.org/`, new Uint8Array(10)],
  ])('that is refused gets its response while it is still being sent: %s', async (code, query, body) => {
    const blob = new Blob([body]);
    const headers = { 'X-Api-Key': key() };

    const response = await fetch(api(query), {
      method: 'POST',
      body: blob.stream(),
      headers,
      duplex: 'half',
    } as RequestInit);

    const { status, headers: replied } = response;
    expect(refusalIn({ status, headers: replied, body: await response.text() }).code).toBe(code);
  });

  it('that is empty is CORRUPT_SOURCE', async () => {
    const form = new FormData();
    for (const [name, value] of Object.entries(PARAMETERS)) form.append(name, value);
    form.append('infile', new Blob([]), 'a.png');

    const { status, headers, ...reply } = await fetch(api(), {
      method: 'POST',
      body: form,
      headers: { 'X-Api-Key': key() },
    }).then(async (response) => ({
      status: response.status,
      headers: response.headers,
      body: await response.text(),
    }));

    expect(refusalIn({ status, headers, ...reply }).code).toBe('CORRUPT_SOURCE');
  });

  it('that is cut off does not disturb the next one', async () => {
    const { port } = new URL(api());
    const head = `POST /api/${IMAGE} HTTP/1.1\r\nHost: a\r\nX-Api-Key: ${key()}\r\nContent-Length: 1000000\r\n\r\n`;
    for (let count = 0; count < 20; count++) {
      const socket = connect(Number(port), '127.0.0.1');
      socket.write(head + 'x'.repeat(1000 * count));
      await new Promise((resolve) => setTimeout(resolve, 20));
      socket.destroy();
    }

    const next = await fetch(api(IMAGE), {
      method: 'POST',
      body: new Uint8Array(picture),
      headers: { 'X-Api-Key': key() },
    });

    expect(await sizeIn(await next.text())).toBe('20x10 jpeg');
  });

  it('that ends early in a multipart body is CORRUPT_SOURCE', async () => {
    const { port } = new URL(api());
    const start = `--b\r\nContent-Disposition: form-data; name="infile"; filename="a.png"\r\n\r\n`;
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(
      `POST /api/${IMAGE} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Api-Key: ${key()}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${start.length + picture.length}\r\n\r\n${start}`,
    );
    socket.write(picture);

    expect(await text(socket)).toContain('(CORRUPT_SOURCE)');
  });
});

describe.runIf(ownService)('the response (needs a service of one machine)', () => {
  it('is the result itself with _response=file', async () => {
    const body = new Uint8Array(picture);
    const query = `${IMAGE}&_response=file`;

    const response = await fetch(api(query), { method: 'POST', body, headers: { 'X-Api-Key': key() } });

    const bytes = Buffer.from(await response.arrayBuffer());
    expect((await sharp(bytes).metadata()).width).toBe(20);
    expect(response.headers.get('content-type')).toBe('image/jpeg');
    expect(response.headers.get('content-length')).toBe(String(bytes.length));
    expect(response.headers.get('content-disposition')).toBe('inline; filename=b.jpg');
    expect(response.headers.get('x-request-id')).toBeTruthy();
    expect(response.headers.get('ratelimit')).toBeTruthy();
  });

  it('redirects to the result with _response=redirect, also after a POST', async () => {
    const { stdout } = await run(
      'curl',
      [
        ...['-sSgL', '-u', `:${key()}`, '-F', `infile=@${file('a.png')}`, '-F', '_response=redirect'],
        ...Object.entries(PARAMETERS).flatMap(([name, value]) => ['-F', `${name}=${value}`]),
        api(),
      ],
      { encoding: 'buffer' },
    );

    expect((await sharp(stdout).metadata()).width).toBe(20);
  });

  it('is JSON if the client names it', async () => {
    const body = new Uint8Array(picture);
    const headers = { 'X-Api-Key': key(), Accept: 'application/json' };

    const response = await fetch(api(IMAGE), { method: 'POST', body, headers });

    const { outputs } = (await response.json()) as { outputs: { url: string; bytes: number }[] };
    const result = await (await fetch(outputs[0]!.url)).arrayBuffer();
    expect(outputs).toMatchObject([{ name: 'b.jpg', contentType: 'image/jpeg', bytes: result.byteLength }]);
  });
});

describe.runIf(ownService)('POST /api/uploads (needs a service of one machine)', () => {
  interface Form {
    readonly infile: string;
    readonly url: string;
    readonly fields: Readonly<Record<string, string>>;
  }
  const prepare = async (name: string) => {
    const headers = { 'X-Api-Key': key() };
    const query = new URLSearchParams({ name });
    const response = await fetch(`${used().service.base}/api/uploads?${query}`, { method: 'POST', headers });
    expect(response.status).toBe(200);
    return (await response.json()) as Form;
  };
  const upload = async ({ url, fields }: Form, path: string) => {
    const parts = [...Object.entries(fields).map(([name, value]) => `${name}=${value}`), `file=@${path}`];
    const args = parts.flatMap((part) => ['-F', part]);
    return (await run('curl', ['-sS', '-w', '%{http_code}', ...args, url])).stdout;
  };

  it('returns a form for curl, whose file several conversions can read', async () => {
    const form = await prepare('a.png');
    expect(await upload(form, file('a.png'))).toBe('204');

    for (const outfile of ['b.jpg', 'b.webp']) {
      const { status, body } = await used().client.ask({ ...PARAMETERS, outfile, infile: form.infile });
      expect([status, await sizeIn(body)]).toEqual([200, `20x10 ${outfile === 'b.jpg' ? 'jpeg' : 'webp'}`]);
    }
    expect(await upload(form, file('a.png'))).toMatch(/has been used already.*\(BAD_PARAMETER\)400$/);
  });

  it('returns a form for a page', async () => {
    await writeFile(file('page.html'), '<h1>An uploaded page</h1>');
    const form = await prepare('page.html');
    await upload(form, file('page.html'));

    const { bytes } = await used().client.convert({ app: 'html2pdf', outfile: 'b.pdf', infile: form.infile });

    expect((await readPdf(bytes)).pages[0]!.text).toBe('An uploaded page');
  });

  it.each(['imageproc', 'html2image'])('names an upload that never arrived, for %s', async (app) => {
    const { infile } = await prepare('a.png');

    expect(await used().client.refuse({ app, outfile: 'b.jpg', infile })).toEqual({
      status: 424,
      code: 'SOURCE_STATUS',
      message: 'The upload does not exist or has expired.',
    });
  });

  it('refuses a form that was changed, and one without a file', async () => {
    const form = await prepare('a.png');
    const changed = { ...form, fields: { ...form.fields, signature: '0'.repeat(64) } };

    expect(await upload(changed, file('a.png'))).toMatch(/not valid or has expired.*400$/);
    const body = new FormData();
    for (const [name, value] of Object.entries(form.fields)) body.append(name, value);
    const response = await fetch(form.url, { method: 'POST', body });
    expect([response.status, response.headers.get('x-error-code')]).toEqual([400, 'MISSING_PARAMETER']);
  });
});
