import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Invocation } from '../../../functions/platform/invoke.ts';
import { uploadKeyOf } from '../../../functions/platform/storage.ts';
import { createKeylessLimit } from '../../../functions/router/admission/admit.ts';
import { signQuery } from '../../../functions/router/admission/authenticate.ts';
import type { Dependencies } from '../../../functions/router/dependencies.ts';
import type { HttpRequest } from '../../../functions/router/http.ts';
import { createCoalescer } from '../../../functions/router/reuse.ts';
import { route } from '../../../functions/router/route.ts';
import { ConversionError, sourceTooLargeError } from '../../../functions/shared/errors.ts';
import { CONVERSION_LIMITS } from '../../../functions/shared/tool.ts';
import { pdftools } from '../../../functions/tools.ts';
import { KEPT_RESULTS } from '../../helpers/kept-results.ts';
import { recordOf, unlimited } from '../accounts.ts';
import { tiny, tinyPage } from '../tiny-tool.ts';
import { headerOf } from './header.ts';

let stored: Map<string, string>;
let seen: { invocation: Invocation; files: string[] }[];
let lines: unknown[];
let dependencies: Dependencies;

beforeEach(() => {
  stored = new Map();
  seen = [];
  lines = [];
  dependencies = {
    ...unlimited,
    tools: [tiny, tinyPage],
    keys: {
      find: async (apiKey) => (apiKey === 'KEY' ? recordOf('owner') : undefined),
      findSigner: async () => undefined,
    },
    storage: {
      ...KEPT_RESULTS,
      grant: async (request) => ({ ...request }),
      url: async (objectKey) => `https://files.example/${objectKey}`,
    },
    uploads: {
      receive: async ({ objectKey, content, maxBytes }) => {
        const bytes = await buffer(content);
        if (bytes.length > maxBytes) throw sourceTooLargeError(maxBytes);
        stored.set(objectKey, bytes.toString());
        return bytes.length;
      },
      exists: async (objectKey) => stored.has(objectKey),
      remove: async ({ objectKey }) => void stored.delete(objectKey),
      form: async ({ objectKey }) => ({ url: 'https://forms.example/', fields: { key: objectKey } }),
    },
    invoke: async (invocation) => {
      seen.push({ invocation, files: [...stored.values()] });
      return { ok: true, objectKeys: [`${invocation.grant.prefix}b.png`] };
    },
    coalesce: createCoalescer(),
    limits: CONVERSION_LIMITS,
    contact: { accountUrl: 'https://a.example/', supportUrl: 'https://s.example/' },
    log: (event, facts) => lines.push({ event, ...facts }),
  };
});

afterEach(() => {
  vi.useRealTimers();
});

/** A body without an end, which can only be left unread. */
const untouched = () =>
  new Readable({
    read() {
      this.push('x');
    },
  });

interface Sent extends Partial<Omit<HttpRequest, 'query' | 'body' | 'header'>> {
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Readable;
}

function send({ query = '', headers = {}, body = '', ...http }: Sent) {
  const pairs = [...new URLSearchParams(query)].map(([name, value]) => ({ name, value }));
  const stream = typeof body === 'string' ? Readable.from([Buffer.from(body)], { objectMode: false }) : body;
  const header = headerOf({ 'x-api-key': 'KEY', ...headers });
  const parts = { ...(http.method !== 'GET' && { body: stream }) };
  const request = { method: 'POST', path: '/api/', query: pairs, header, ...parts, ...http };
  return route(request, dependencies, new AbortController().signal);
}

const QUERY = 'app=tiny&outfile=b.png';
const MULTIPART = { 'content-type': 'multipart/form-data; boundary=b' };
const part = (head: string, text: string) =>
  `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${text}\r\n`;
const END = '--b--\r\n';
const FIELDS = part('name=app', 'tiny') + part('name=outfile', 'b.png');

describe('a body', () => {
  it.each([
    ['PUT', '/api/a.png', QUERY, {}, 'content'],
    ['POST', '/api', QUERY, {}, 'content'],
    ['POST', '/api/', '', MULTIPART, FIELDS + part('name=infile; filename=a.png', 'content') + END],
    ['POST', '/api/', '', MULTIPART, part('name=infile; filename=a.png', 'content') + FIELDS + END],
    ['GET', '/api/', `${QUERY}&infile=data:,content`, {}, undefined],
  ])('is the source of a conversion, by %s to %s, and is deleted afterwards', async (...sent) => {
    const [method, path, query, headers, body] = sent;

    const reply = await send({ method, path, query, headers, ...(body !== undefined && { body }) });

    expect(reply.body).toMatch(/^\[Output\] https:\/\/files\.example\/[0-9a-f]{32}\/b\.png<br>$/);
    expect(seen).toHaveLength(1);
    expect(seen[0]!.files).toEqual(['content']);
    expect(seen[0]!.invocation.source).toMatch(
      /^https:\/\/files\.example\/uploads\/[0-9a-f]{32}\/[0-9a-f]{32}\/(a\.png|source(\.txt)?)$/,
    );
    expect([...stored]).toEqual([]);
  });

  it('can name a bundled sample, as a query and a signed link can, in infile and in options', async () => {
    const secret = '0'.repeat(64);
    dependencies = {
      ...dependencies,
      tools: [pdftools],
      keys: { ...dependencies.keys, findSigner: async () => ({ secret, record: recordOf('owner') }) },
      sampleUrl: (name) => `https://samples.example/${name}`,
    };
    const fields = {
      app: 'pdftools',
      infile: 'sample:report.pdf',
      outfile: 'b.pdf',
      '-append': 'sample:report.pdf',
    };
    const query = `${new URLSearchParams({ ...fields, '-watermark': 'sample:report.pdf' })}`;
    const pairs = Object.entries(fields).map(([name, value]) => ({ name, value }));
    const expires = Math.ceil(Date.now() / 1000) + 60;
    const signed = signQuery(pairs, { id: `key_${'A'.repeat(10)}`, secret, expires });
    const [append, ...others] = pairs.toReversed().map(({ name, value }) => part(`name="${name}"`, value));

    await send({ method: 'GET', query });
    await send({ headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: query });
    const stamp = part('name="-stamp"; filename=s.pdf', 'stamp');
    await send({ headers: MULTIPART, body: others.join('') + stamp + append + END });
    await send({ method: 'GET', query: signed, headers: { 'x-api-key': '' } });
    const unknown = await send({ method: 'GET', query: query.replaceAll('report.pdf', 'c.pdf') });

    expect(seen.map(({ invocation: { source, options } }) => [source, options.append, options.mark])).toEqual(
      [
        ['https://samples.example/report.pdf', ['https://samples.example/report.pdf'], 'sample:report.pdf'],
        ['https://samples.example/report.pdf', ['https://samples.example/report.pdf'], 'sample:report.pdf'],
        ['https://samples.example/report.pdf', ['https://samples.example/report.pdf'], undefined],
        ['https://samples.example/report.pdf', ['https://samples.example/report.pdf'], undefined],
      ],
    );
    expect([unknown.status, unknown.body]).toEqual([400, expect.stringContaining("'sample:c.pdf'")]);
  });

  it('is also the source that an option names, in order and as upload: and data:', async () => {
    dependencies = { ...dependencies, tools: [pdftools] };
    const fields = part('name=app', 'pdftools') + part('name=outfile', 'b.pdf');
    const body =
      part('name=infile; filename=a.pdf', 'first') +
      part('name="-append"; filename=b.pdf', 'second') +
      part('name="-append"', 'https://a.example/c.pdf') +
      part('name="-append"', 'data:,third') +
      part('name="-append"; filename=d.pdf', 'fourth');

    await send({ headers: MULTIPART, body: fields + body + END });

    expect(seen[0]!.files.sort()).toEqual(['first', 'fourth', 'second', 'third']);
    expect(seen[0]!.invocation.options.append).toEqual([
      expect.stringMatching(/^https:\/\/files\.example\/uploads\/.*\/b\.pdf$/),
      'https://a.example/c.pdf',
      expect.stringMatching(/\/source\.txt$/),
      expect.stringMatching(/\/d\.pdf$/),
    ]);
    expect([...stored]).toEqual([]);
  });

  it('is named with its option and place if it cannot be received', async () => {
    dependencies = { ...dependencies, tools: [pdftools], limits: { ...CONVERSION_LIMITS, sourceBytes: 8 } };
    const body =
      part('name=infile; filename=a.pdf', 'first') +
      part('name="-append"; filename=b.pdf', '2') +
      part('name="-append"; filename=c.pdf', 'third');
    const query = 'app=pdftools&outfile=d.pdf&-append=https://a.example/b.pdf';

    const reply = await send({
      query,
      headers: { ...MULTIPART, accept: 'application/json' },
      body: body + END,
    });

    expect(JSON.parse(String(reply.body)).errors).toMatchObject([
      { code: 'SOURCE_TOO_LARGE', parameter: '-append', index: 2 },
    ]);
  });

  it('of parameters is read like a query', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };

    await send({ headers, body: `${QUERY}&infile=https://a.example/b.png&-copies=3` });

    expect(seen[0]!.invocation).toMatchObject({
      source: 'https://a.example/b.png',
      options: { copies: 3 },
    });
  });

  it('is deleted if the conversion fails', async () => {
    const failing = { ...dependencies };
    dependencies = { ...failing, invoke: () => Promise.reject(new Error('broken')) };

    expect((await send({ query: QUERY, body: 'content' })).status).toBe(500);
    expect([...stored]).toEqual([]);
  });

  it.each([{ headers: { 'x-api-key': 'WRONG' } }, { query: `${QUERY}&-copies=x` }])(
    'is not read any further after the reply to %j',
    async (sent) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });

      await send({ query: QUERY, body: untouched(), ...sent });

      // The timeouts of a body run until it is closed.
      await setImmediate();
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  it('is not received before the key, the limits and the parameters were checked', async () => {
    const none = await send({ query: QUERY, body: untouched(), headers: { 'x-api-key': 'WRONG' } });
    const wrong = await send({ query: `${QUERY}&-copies=x`, body: untouched() });
    const twice = await send({ query: `${QUERY}&infile=https://a.example/`, body: untouched() });
    dependencies = {
      ...dependencies,
      limiter: {
        ...dependencies.limiter,
        admit: async () => ({ admitted: false, exceeded: 'perMonth', used: { short: 1, month: 1 } }),
      },
    };
    const spent = await send({ query: QUERY, body: untouched() });

    expect([none, wrong, twice, spent].map(({ headers }) => headers['X-Error-Code'])).toEqual([
      'INVALID_KEY',
      'BAD_PARAMETER',
      'BAD_PARAMETER',
      'QUOTA_EXCEEDED',
    ]);
    expect(seen).toEqual([]);
  });

  it('that is slow or broken is an error of the caller', async () => {
    const slow = Readable.from(
      (async function* () {
        yield Buffer.from(FIELDS + part('name=infile; filename=a', 'content'));
        throw new ConversionError('SOURCE_TIMEOUT', 'Too slow.');
      })(),
    );

    const late = await send({ headers: MULTIPART, body: slow });
    const cut = await send({ headers: MULTIPART, body: FIELDS + part('name=infile; filename=a', 'x') });

    expect([late.status, cut.status]).toEqual([422, 422]);
    expect([...stored]).toEqual([]);
  });
});

describe('a key', () => {
  it('may be the first field', async () => {
    const body = part('name=apikey', 'KEY') + FIELDS + part('name=infile; filename=a.png', 'x') + END;

    const { status } = await send({ headers: { ...MULTIPART, 'x-api-key': '' }, body });

    expect(status).toBe(200);
  });

  it.each([
    ['', {}],
    ['apikey=WRONG&', {}],
  ])('that is missing or wrong in a POST gets 401 and starts nothing: %j', async (query, headers) => {
    const sent = { query: query + QUERY, headers: { 'x-api-key': '', ...headers }, body: 'content' };

    const { status, headers: replied, body } = await send(sent);

    expect(status).toBe(401);
    expect(replied).toMatchObject({
      'WWW-Authenticate': 'Bearer realm="docmill", Basic realm="docmill"',
      'X-Error-Code': 'INVALID_KEY',
    });
    expect(body).toMatch(/^\[ERROR\] Please provide a valid APIKEY\. /);
    expect(lines).toEqual([expect.objectContaining({ code: 'INVALID_KEY', status: 401 })]);
    expect([seen, [...stored]]).toEqual([[], []]);
  });

  it('of a GET keeps status 200, also in a header', async () => {
    const { status } = await send({ method: 'GET', query: QUERY, headers: { 'x-api-key': 'WRONG' } });

    expect(status).toBe(200);
  });

  it('must be in a header once an address has sent too many bodies without one', async () => {
    dependencies = { ...dependencies, keyless: createKeylessLimit(2) };
    const inBody = part('name=apikey', 'KEY') + FIELDS + part('name=infile; filename=a.png', 'x') + END;
    const headers = { ...MULTIPART, 'x-api-key': '' };
    for (let count = 0; count < 5; count++)
      expect((await send({ headers, body: inBody, ip: '1.2.3.4' })).status).toBe(200);
    await send({ headers, body: FIELDS + END, ip: '1.2.3.4' });
    await send({ headers, body: '--damaged', ip: '1.2.3.4' });

    const refused = await send({ headers, body: untouched(), ip: '1.2.3.4' });
    const other = await send({ headers, body: inBody, ip: '1.2.3.5' });
    const inHeader = await send({ headers: { ...headers, 'x-api-key': 'KEY' }, body: inBody, ip: '1.2.3.4' });

    expect([refused.status, other.status, inHeader.status]).toEqual([429, 200, 200]);
    expect(refused.headers['Retry-After']).toBe('60');
  });

  it('is looked up once for a request with a body', async () => {
    const { find } = dependencies.keys;
    const found: string[] = [];
    const counted: typeof find = (key) => {
      found.push(key);
      return find(key);
    };
    const keys = { ...dependencies.keys, find: counted };
    dependencies = { ...dependencies, keys };

    await send({ query: QUERY, body: 'content', headers: { 'content-type': 'image/png' } });
    expect(found).toEqual(['KEY']);

    const field = { headers: { ...MULTIPART, 'x-api-key': 'OTHER' }, body: part('name=apikey', 'KEY') + END };
    await send(field);
    expect(found).toEqual(['KEY', 'OTHER', 'KEY']);
  });

  it('never reaches a tool', async () => {
    const headers = { ...MULTIPART, 'x-api-key': '', authorization: 'Bearer KEY' };
    const body = `${FIELDS + part('name=infile; filename=a.png', 'x') + part('name=apikey', 'KEY')}${END}`;

    await send({ headers, body });

    expect(seen).toHaveLength(1);
    expect(JSON.stringify(seen)).not.toContain('KEY');
  });
});

describe('the files of a page', () => {
  const page = part('name=app', 'tinypage') + part('name=outfile', 'b.pdf');

  it('are passed on by their paths, the page first', async () => {
    const files =
      part('name=asset; filename=css/a.css', 'style') + part('name=infile; filename=p.html', 'page');

    await send({ headers: MULTIPART, body: page + files + END });

    expect(seen[0]!.invocation.files).toEqual([
      { path: 'p.html', url: expect.stringMatching(/^https:\/\/files\.example\/uploads\/.*\/p\.html$/) },
      { path: 'css/a.css', url: expect.stringMatching(/\/a\.css$/) },
    ]);
    expect([...stored]).toEqual([]);
  });

  it.each([
    ['asset', '../a.css', page],
    ['asset', '', page],
    ['asset', 'a.css', FIELDS],
    ['other', 'a.css', page],
  ])('named %s with the path %j may be rejected', async (name, path, fields) => {
    const files =
      part('name=infile; filename=p.html', 'page') + part(`name=${name}; filename="${path}"`, 'x');

    const { status } = await send({ headers: MULTIPART, body: fields + files + END });

    expect(status).toBe(400);
    expect([seen, [...stored]]).toEqual([[], []]);
  });

  it('count together', async () => {
    dependencies = { ...dependencies, limits: { ...CONVERSION_LIMITS, sourceBytes: 10 } };
    const files = part('name=infile; filename=p.html', '0123456789') + part('name=asset; filename=a', 'x');

    const { status } = await send({ headers: MULTIPART, body: page + files + END });

    expect(status).toBe(413);
    expect([...stored]).toEqual([]);
  });

  it('are rejected with the limit of all of them', async () => {
    dependencies = { ...dependencies, limits: { ...CONVERSION_LIMITS, sourceBytes: 10_000 } };
    const files =
      part('name=infile; filename=p.html', 'x'.repeat(6000)) +
      part('name=asset; filename=a', 'x'.repeat(6000));

    const { body } = await send({ headers: MULTIPART, body: page + files + END });

    expect(body).toContain('The source exceeds the limit of 0.01 MB.');
  });
});

describe('a file name as infile', () => {
  it.each([
    'letter.docx',
    './letter.docx',
    '../a.b/letter.pdf',
    '/home/me/letter.docx',
    'C:\\me\\a.doc',
    '@a.png',
    'file:///a.png',
  ])('gets the command that sends the file: %s', async (infile) => {
    const query = `${QUERY}&infile=${encodeURIComponent(infile)}`;

    const { status, body } = await send({ method: 'GET', query });

    expect(status).toBe(400);
    expect(body).toMatch(
      /^\[ERROR\] Parameter 'infile' must be a URL, .*curl -F infile=@FILE .*\(BAD_ADDRESS\)$/,
    );
  });

  it.each(['example.org/a.png', 'ftp://example.org/a.png', '//example.org/a.png', 'http://'])(
    'is not %s',
    async (infile) => {
      const { body } = await send({ method: 'GET', query: `${QUERY}&infile=${infile}` });

      expect(body).toContain('must be an absolute http or https URL');
    },
  );

  it.each(['letter.docx', 'data:,x', `upload:${'0'.repeat(32)}/a`])(
    'and any other file is rejected without uploads: %s',
    async (infile) => {
      const { uploads: _, ...others } = dependencies;
      dependencies = others;

      const { status, body } = await send({ method: 'GET', query: `${QUERY}&infile=${infile}` });

      expect(status).toBe(400);
      expect(body).toContain('must be an absolute http or https URL');
      expect(seen).toEqual([]);
    },
  );
});

describe('a method', () => {
  it.each([
    ['DELETE', '/api/', 405, 'GET, POST, PUT'],
    ['POST', '/api/usage', 405, 'GET'],
    ['POST', '/api/a.png', 404, undefined],
    ['PUT', '/api/a/b.png', 404, undefined],
    ['GET', '/api/a.png', 404, undefined],
  ])('%s of %s gets %d', async (method, path, status, allow) => {
    const reply = await send({ method, path, query: QUERY, body: 'x' });

    expect([reply.status, reply.headers.Allow]).toEqual([status, allow]);
  });
});

describe('POST /api/uploads', () => {
  it.each([
    [false, 204],
    [true, 400],
  ])('stores the file of a form, unless its account is disabled: %j', async (disabled, expected) => {
    const readForm = () => ({ objectKey: 'uploads/a', account: 'owner', maxBytes: 100 });
    const uploads = { ...dependencies.uploads!, readForm };
    dependencies = { ...dependencies, uploads, isDisabled: async () => disabled };
    const body = part('name=policy', 'x') + part('name=file; filename=a.png', 'content') + END;

    const { status } = await send({ path: '/api/uploads', headers: MULTIPART, body });

    expect([status, stored.get('uploads/a')]).toEqual([expected, disabled ? undefined : 'content']);
  });

  it('deletes an upload of the account on DELETE, and nothing else', async () => {
    const id = `${'a'.repeat(32)}/a.png`;
    stored.set(uploadKeyOf(recordOf('owner').account, id), 'content');
    const remove = (query: string) => send({ method: 'DELETE', path: '/api/uploads', query });

    expect((await remove('infile=https://a.example/a.png')).status).toBe(400);
    expect([(await remove(`infile=upload:${id}`)).status, stored.size]).toEqual([204, 0]);
  });

  it('returns a form, whose upload belongs to the account of the key', async () => {
    const { status, body } = await send({ path: '/api/uploads', query: 'name=a b.png' });

    const { infile, url, fields, maxBytes } = JSON.parse(String(body));
    expect([status, url, maxBytes]).toEqual([200, 'https://forms.example/', CONVERSION_LIMITS.sourceBytes]);
    expect(infile).toMatch(/^upload:[0-9a-f]{32}\/a b\.png$/);
    expect(fields.key).toBe(uploadKeyOf(recordOf('owner').account, infile.slice('upload:'.length)));
  });

  it.each([
    [{ 'content-type': 'application/x-www-form-urlencoded' }, 'name=a+b.png'],
    [MULTIPART, part('name=name', 'a b.png') + END],
  ])('takes the name from the body: %j', async (headers, body) => {
    const reply = await send({ path: '/api/uploads', headers, body });

    expect(reply.status).toBe(200);
    expect(JSON.parse(String(reply.body)).infile).toMatch(/^upload:[0-9a-f]{32}\/a b\.png$/);
  });

  it.each([
    [{}, 'content'],
    [{ 'content-type': 'application/json' }, '{"name":"a.png"}'],
    [MULTIPART, part('name=file; filename=a.png', 'content') + part('name=policy', 'x') + END],
    [MULTIPART, part('name=file; filename=a.png', '') + END],
  ])('rejects a file that does not follow the fields of a form: %j', async (headers, body) => {
    const reply = await send({ path: '/api/uploads', headers, body });

    expect([reply.status, reply.headers['X-Error-Code']]).toEqual([400, 'BAD_PARAMETER']);
    expect(reply.body).toContain('Send the fields of the form first, and the file last.');
  });

  it('rejects two names', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };

    const { body } = await send({ path: '/api/uploads', query: 'name=a.png', headers, body: 'name=b.png' });

    expect(body).toContain("Parameter 'name' must be given at most once");
  });

  it('tells what is left of the limits, also if it fails', async () => {
    const { uploads } = dependencies;
    const form = async () => Promise.reject(new Error('The storage is down.'));
    const left = async (query: string) => (await send({ path: '/api/uploads', query })).headers;
    dependencies = { ...dependencies, defaultLimits: { perMonth: 10 } };

    expect(await left('name=a.png')).toHaveProperty('RateLimit');
    expect(await left('app=tiny')).toHaveProperty('RateLimit');
    dependencies = { ...dependencies, uploads: { ...uploads!, form } };
    expect(await left('name=a.png')).toMatchObject({ 'X-Error-Code': 'INTERNAL' });
    expect(await left('name=a.png')).toHaveProperty('RateLimit');
  });

  it.each([
    ['POST', 'app=tiny', {}, 400, 'UNKNOWN_PARAMETER'],
    ['POST', '', { 'x-api-key': 'wrong' }, 401, 'INVALID_KEY'],
    ['GET', '', {}, 405, 'METHOD_NOT_ALLOWED'],
  ])('rejects %s with %j and %j', async (method, query, headers, status, code) => {
    const reply = await send({ method, path: '/api/uploads', query, headers });

    expect([reply.status, reply.headers['X-Error-Code']]).toEqual([status, code]);
  });
});
