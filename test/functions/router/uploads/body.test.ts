import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { parameterNames } from '../../../../functions/conversion/request.ts';
import { openBody } from '../../../../functions/router/uploads/body.ts';
import { isFile } from '../../../../functions/router/uploads/multipart.ts';
import * as tools from '../../../../functions/tools.ts';
import { headerOf } from '../header.ts';

const names = parameterNames(Object.values(tools));
const takesSource = (name: string) => name === 'infile' || name === '--header-html';

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
  /** Number of bytes that arrive together. All by default. */
  readonly chunk?: number;
}

/** Opens a body and reads it to its end. */
async function open({ method = 'POST', path = '/api/', headers = {}, body, chunk = 1e6 }: Sent) {
  const bytes = Buffer.from(body);
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunk) }, (_, index) =>
    bytes.subarray(index * chunk, (index + 1) * chunk),
  );
  const stream = Readable.from(chunks, { objectMode: false });
  const request = {
    method,
    path,
    query: [],
    header: headerOf(headers),
    body: stream,
    maySendSource: true,
    names,
    takesSource,
  };
  const { parameters, rest, isSource } = await openBody(
    request,
    { name: 'one', hasKey: true },
    new AbortController().signal,
  );
  const parts: unknown[] = [];
  for await (const part of rest) {
    if (!isFile(part)) parts.push(part);
    else parts.push([part.name, part.fileName, part.contentType, (await buffer(part.content)).toString()]);
  }
  return { parameters, parts, isSource };
}

const FORM = 'application/x-www-form-urlencoded';

afterEach(() => {
  vi.useRealTimers();
});

describe('a body', () => {
  it.each([FORM, `${FORM}; charset=UTF-8`])('of type %s is parameters', async (type) => {
    const body = 'infile=https%3A%2F%2Fa.example%2F%3Fb&-resize=5x5!&-gray';

    expect(await open({ headers: { 'content-type': type }, body })).toEqual({
      parameters: [
        { name: 'infile', value: 'https://a.example/?b' },
        { name: '-resize', value: '5x5!' },
        { name: '-gray', value: '' },
      ],
      parts: [],
      isSource: false,
    });
  });

  it.each([
    ['a form', FORM, (html: string) => `-r=1&--header-html=${encodeURIComponent(html)}&-q=%2B+a`],
    [
      'JSON',
      'application/json',
      (html: string) => JSON.stringify({ '-r': 1, '--header-html': html, '-q': '+ a' }),
    ],
    [
      'multipart',
      'multipart/form-data; boundary=b',
      (html: string) =>
        `${[`-r"\r\n\r\n1`, `--header-html"\r\n\r\n${html}`, `-q"\r\n\r\n+ a`]
          .map((field) => `--b\r\nContent-Disposition: form-data; name="${field}\r\n`)
          .join('')}--b--`,
    ],
  ])('has a file in place of a long text in %s', async (_, type, encode) => {
    const html = `<p title="a+b&c">${'é\n'.repeat(50_000)}`;
    const path = type === 'application/json' ? '/api/json' : '/api/';
    const { parameters, parts } = await open({ path, headers: { 'content-type': type }, body: encode(html) });

    expect(parameters).toEqual([
      { name: '-r', value: '1' },
      { name: '--header-html', value: expect.stringMatching(/^upload:[0-9a-f]{32}\/source$/) },
      { name: '-q', value: '+ a' },
    ]);
    expect(parts).toEqual([['--header-html', '', '', html]]);
  });

  it('has a file in place of a long data URL', async () => {
    const infile = `data:text/html;base64,${Buffer.alloc(30_000, 'a').toString('base64')}`;
    const body = new URLSearchParams({ infile }).toString();
    const { parameters, parts } = await open({ headers: { 'content-type': FORM }, body });

    expect(parameters).toEqual([{ name: 'infile', value: expect.stringMatching(/\/source\.html$/) }]);
    expect(parts).toEqual([['infile', '', 'text/html', 'a'.repeat(30_000)]]);
  });

  it('has a file in place of long HTML', async () => {
    const infile = ` <h1>${'a'.repeat(30_000)}`;
    const body = new URLSearchParams({ infile }).toString();
    const { parameters, parts } = await open({ headers: { 'content-type': FORM }, body });

    expect(parameters).toEqual([{ name: 'infile', value: expect.stringMatching(/\/source\.html$/) }]);
    expect(parts).toEqual([['infile', '', 'text/html', infile]]);
  });

  it.each([
    ['a long URL', `infile=https://a.example/${'a'.repeat(70_000)}`],
    ['a long text of another option', `-watermark=${'a'.repeat(70_000)}`],
    ['many parameters', '-hide=aaaaaaaaaaaaaaaaaaaa&'.repeat(3000)],
  ])('is refused with %s', async (_, body) => {
    const refused = open({ headers: { 'content-type': FORM }, body });

    await expect(refused).rejects.toThrow(/at most (65536 characters in total|500 parameters)/);
  });

  it.each([1, 2, 7])('is parameters or a file, however few bytes arrive together: %d', async (chunk) => {
    const headers = { 'content-type': FORM };

    expect(await open({ headers, body: 'app=x&-r=1', chunk })).toMatchObject({
      parameters: [
        { name: 'app', value: 'x' },
        { name: '-r', value: '1' },
      ],
    });
    expect(await open({ headers, body: 'a,b\n1,2', chunk })).toMatchObject({
      parameters: [],
      parts: [['infile', '', FORM, 'a,b\n1,2']],
    });
  });

  it('is parameters, whatever option of a tool comes first', async () => {
    const names = Object.values(tools).flatMap(({ options }) =>
      Object.values(options).flatMap((option) => option.names),
    );
    const files: string[] = [];
    for (const name of new Set(names)) {
      const encoded = [
        new URLSearchParams({ [name]: '' }).toString(),
        encodeURIComponent(name),
        name,
        name.replace(/^\+/, '%20'),
      ];
      for (const first of encoded) {
        const { isSource } = await open({ headers: { 'content-type': FORM }, body: `${first}&app=x` });
        if (isSource) files.push(first);
      }
    }

    expect(names.length).toBeGreaterThan(400);
    expect(files).toEqual([]);
  });

  it('of more parameters than a query may have is refused before they are parsed', async () => {
    const body = `app=x${'&a'.repeat(500)}`;

    await expect(open({ headers: { 'content-type': FORM }, body })).rejects.toMatchObject({
      code: 'BAD_PARAMETER',
      message: 'A body may have at most 500 parameters.',
    });
    expect(
      (await open({ headers: { 'content-type': FORM }, body: `app=x${'&a'.repeat(499)}` })).parameters,
    ).toHaveLength(500);
  });

  it('that is refused is not read any further', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    // There is no boundary.
    const headers = { 'content-type': 'multipart/form-data' };

    await expect(open({ headers, body: 'x' })).rejects.toMatchObject({ code: 'CORRUPT_SOURCE' });

    // The timeouts of a body run until it is closed.
    await vi.waitUntil(() => vi.getTimerCount() === 0);
  });

  it.each(['%PDF-1.7\n1 0 obj', '\x89PNG\r\n', '<p>a=b', 'a;b\n1;2', 'name=value\nother'])(
    'that a client only calls a form is the source: %j',
    async (body) => {
      const { parts, isSource } = await open({ headers: { 'content-type': FORM }, body });

      expect([parts, isSource]).toEqual([[['infile', '', FORM, body]], true]);
    },
  );

  it('of any other type is the source, named by its content disposition', async () => {
    const headers = {
      'content-type': 'Text/HTML; charset=utf-8',
      'content-disposition': 'attachment; filename="a.html"',
    };

    const { parts, isSource } = await open({ headers, body: '<p>x' });

    expect([parts, isSource]).toEqual([[['infile', 'a.html', 'text/html', '<p>x']], true]);
  });

  it.each([
    ['/api/letter.docx', 'letter.docx'],
    ['/api/two%20words.docx', 'two words.docx'],
    ['/api/100%.docx', '100%.docx'],
    ['/api/', ''],
    ['/api', ''],
  ])('of a PUT to %s has the name %j', async (path, name) => {
    const { parts } = await open({ method: 'PUT', path, headers: { 'content-type': FORM }, body: 'app=x' });

    expect(parts).toEqual([['infile', name, FORM, 'app=x']]);
  });

  it('of several parts is read up to its first file', async () => {
    const part = (head: string, text: string) =>
      `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${text}\r\n`;
    const body = `${part('name=app', 'x')}${part('name=infile; filename=a', 'y')}${part('name=outfile', 'z')}--b--\r\n`;

    const opened = await open({ headers: { 'content-type': 'multipart/form-data; boundary=b' }, body });

    expect(opened.parameters).toEqual([{ name: 'app', value: 'x' }]);
    expect(opened.parts).toEqual([['infile', 'a', 'text/plain', 'y'], { name: 'outfile', value: 'z' }]);
  });

  it('of a PUT is the source, even if it is empty', async () => {
    const headers = { 'content-length': '0' };

    const { parts, isSource } = await open({ method: 'PUT', path: '/api/a.html', headers, body: '' });

    expect(parts).toEqual([['infile', 'a.html', '', '']]);
    expect(isSource).toBe(true);
  });

  it('ends with the request, also between two files', async () => {
    const request = new AbortController();
    const gone = new Error('The caller has disconnected.');
    const body = Readable.from(
      (async function* () {
        yield Buffer.from(
          '--b\r\nContent-Disposition: form-data; name="infile"; filename="a"\r\n\r\nx\r\n--b\r\nContent-Disposition: ',
        );
        await new Promise(() => {});
      })(),
    );
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const sent = {
      method: 'POST',
      path: '/api/',
      query: [],
      header: headerOf(headers),
      body,
      maySendSource: true,
      names,
      takesSource,
    };
    const { rest, close } = await openBody(sent, { name: 'one', hasKey: true }, request.signal);
    const reading = (async () => {
      for await (const part of rest) {
        if (isFile(part)) await buffer(part.content);
        setImmediate(() => request.abort(gone));
      }
    })();

    await expect(reading).rejects.toBe(gone);
    close();
  });

  it('that is empty contains nothing', async () => {
    expect(await open({ headers: { 'content-length': '0' }, body: '' })).toEqual({
      parameters: [],
      parts: [],
      isSource: false,
    });
  });

  it.each([
    ['UNSUPPORTED_SOURCE', { 'content-encoding': 'gzip' }, 'x'],
    ['BAD_PARAMETER', { 'content-type': FORM }, `infile=${'x'.repeat(1_000_000)}`],
    ['CORRUPT_SOURCE', { 'content-type': 'multipart/form-data' }, 'x'],
  ])('is rejected with %s for %j', async (code, headers, body) => {
    await expect(open({ headers, body })).rejects.toMatchObject({ code });
  });
});

it('waits while four bodies of its caller are read up to their first file, but not for those of others', async () => {
  const stop = new AbortController();
  const open = (caller: string, body: Readable) =>
    openBody(
      {
        method: 'POST',
        path: '/api/',
        query: [],
        header: headerOf(headers),
        body,
        maySendSource: true,
        names,
        takesSource,
      },
      { name: caller, hasKey: true },
      stop.signal,
    );
  const headers = { 'content-type': FORM };
  const silent = Array.from({ length: 4 }, () => open('slow', new Readable({ read() {} })));
  for (const body of silent) body.catch(() => {});
  const form = () => Readable.from([Buffer.from('app=imageproc')], { objectMode: false });
  let isOpen = false;
  const fifth = open('slow', form()).finally(() => {
    isOpen = true;
  });

  const other = await open('other', form());

  expect(other.parameters).toEqual([{ name: 'app', value: 'imageproc' }]);
  expect(isOpen).toBe(false);
  stop.abort();
  await expect(fifth).rejects.toMatchObject({ code: 'TIMED_OUT' });
});

it.each([
  ['250 with', true, 254],
  ['60 without', false, 64],
])('is refused if %s a key are waiting already', async (_, hasKey, most) => {
  const stop = new AbortController();
  const header = headerOf({ 'content-type': FORM });
  const opened = Array.from({ length: most + 1 }, () => {
    const body = new Readable({ read() {} });
    const caller = { name: 'many', hasKey };
    return openBody(
      { method: 'POST', path: '/api/', query: [], header, body, maySendSource: true, names, takesSource },
      caller,
      stop.signal,
    );
  });

  await expect(opened.pop()).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfter: 1 });

  stop.abort();
  const codes = (await Promise.allSettled(opened)).map(
    (each) => each.status === 'rejected' && each.reason.code,
  );
  expect(new Set(codes)).toEqual(new Set(['TIMED_OUT']));
});

it('does not wait for bodies without a key', async () => {
  const stop = new AbortController();
  const open = (name: string, hasKey: boolean, body: Readable) =>
    openBody(
      {
        method: 'POST',
        path: '/api/',
        query: [],
        header: headerOf({ 'content-type': FORM }),
        body,
        maySendSource: true,
        names,
        takesSource,
      },
      { name, hasKey },
      stop.signal,
    );
  for (let count = 0; count < 100; count++)
    open(`address ${count >> 2}`, false, new Readable({ read() {} })).catch(() => {});

  const form = await open(
    'account',
    true,
    Readable.from([Buffer.from('app=imageproc')], { objectMode: false }),
  );

  expect(form.parameters).toEqual([{ name: 'app', value: 'imageproc' }]);
  stop.abort();
});
