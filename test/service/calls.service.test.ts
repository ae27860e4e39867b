import { setTimeout } from 'node:timers/promises';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { quarters } from '../fixtures/image.ts';
import { chapters } from '../fixtures/page.ts';
import { makePdf, numberedPages } from '../fixtures/pdf.ts';
import { readPdf } from '../helpers/pdf.ts';
import { watermarkOf } from '../helpers/watermark.ts';
import { ownService } from '../lab/service.ts';
import { refusalIn, urlsIn } from './client.ts';
import { useService } from './use-service.ts';

const used = useService(async () => {
  const picture = await quarters(40, 30).png().toBuffer();
  return {
    'a.png': picture,
    'chapters.html': chapters(3),
    'report.pdf': makePdf(numberedPages(3)),
    // Responds only after its whole query has arrived.
    'signed.png': (request, response) => {
      const { searchParams } = new URL(request.url ?? '/', 'http://sources');
      const whole =
        searchParams.get('token') === 'a b/c=' &&
        searchParams.get('sig') === 'd+e&f' &&
        searchParams.has('x-id');
      response.writeHead(whole ? 200 : 403, { 'content-type': 'image/png' }).end(whole ? picture : 'no');
    },
    'moved.png': (_request, response) => response.writeHead(302, { location: '/a.png' }).end(),
    'inside.png': (_request, response) =>
      response.writeHead(302, { location: 'http://127.0.0.1:1/a.png' }).end(),
    'slow.png': async (_request, response) => {
      await setTimeout(4000);
      response.writeHead(200).end(picture);
    },
  };
});

const image = (infile = 'a.png', outfile = 'b.jpg') => ({
  app: 'imageproc',
  infile: used().sources.urlOf(infile),
  outfile,
});

it('chooses the tool for any source with app=auto', async () => {
  const { client, sources } = used();
  const picture = async (infile: string) => {
    const { headers, body } = await client.ask({ app: 'auto', infile, outfile: 'b.png' });
    expect(body).toMatch(/^\[Output\] /);
    return headers.get('x-app');
  };

  expect(await picture(sources.urlOf('report.pdf'))).toBe('pdftools');
  expect(await picture(sources.urlOf('moved.png'))).toBe('imageproc');
  expect(await picture('data:text/html,<p>Hello')).toBe('html2image');
});

describe('access', () => {
  it.each([{ apikey: '' }, { apikey: 'wrong' }, { apikey: 'AAAAAAA-AAAAAAA-AAAAAAA-AAAAAAA' }])(
    'returns the error text of the specification for %j, with status 200 and no output',
    async (wrong) => {
      const { client } = used();

      const { status, headers, body } = await client.ask({ ...image(), ...wrong });

      expect(status).toBe(200);
      expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
      expect(body).toMatch(/^\[ERROR\] Please provide a valid APIKEY\. /);
      expect(body).toMatch(/sign up.*https?:\/\/.*support.*https?:\/\/.*demo mode/is);
      expect(body).not.toContain('[Output]');
    },
  );

  it('is denied without a key, and with two', async () => {
    const { client, service } = used();

    const replies = [
      await client.send('app=imageproc'),
      await client.send(`apikey=${service.apiKey}&apikey=${service.apiKey}`),
    ];

    for (const { body } of replies) expect(body).toMatch(/^\[ERROR\] Please provide a valid APIKEY\. /);
  });
});

describe.runIf(ownService)('a call without a key (needs a service of one machine)', () => {
  it.each(['pdf', 'png'] as const)('shows the first page with a watermark: %s', async (format) => {
    const { client, sources } = used();
    const query = { app: 'pdftools', infile: sources.urlOf('report.pdf'), outfile: `a.${format}`, '-l': '2' };

    const { body } = await client.send(`${new URLSearchParams(query)}`);

    const url = /\nDemo result: (\S+)$/.exec(body)?.[1] ?? body;
    const { pages, red } = await watermarkOf(Buffer.from(await (await fetch(url)).arrayBuffer()), format);
    expect(pages).toBe(1);
    expect(red).toBeGreaterThan(0.01);
  });
});

describe('a result', () => {
  const statusOf = async (url: string, init?: RequestInit) => (await fetch(url, init)).status;

  it('is deleted by its URL, with a key of its account only, and not used again', async () => {
    const { client, service } = used();
    const query = { ...image(), _cache: '600' };
    const [url = ''] = urlsIn(await client.ask(query), 1);
    const address = `${service.base}/api/results?url=${encodeURIComponent(url)}`;
    const headers = { 'x-api-key': service.apiKey };

    expect(await statusOf(address, { method: 'DELETE' })).toBe(401);
    expect(await statusOf(address, { method: 'DELETE', headers })).toBe(204);
    expect(await statusOf(url)).toBeGreaterThanOrEqual(400);
    expect((await client.ask(query)).headers.get('x-cache')).toBe('miss');
  });

  it.runIf(ownService)('is deleted after it was sent, with _keep=0', async () => {
    const { client } = used();
    const [url = ''] = urlsIn(await client.ask({ ...image(), _keep: '0' }), 1);

    expect(await statusOf(url, { method: 'HEAD' })).toBe(200);
    expect(await statusOf(url, { headers: { range: 'bytes=0-9' } })).toBe(206);
    const whole = await fetch(url);
    await whole.arrayBuffer();
    expect(whole.status).toBe(200);
    await expect.poll(() => statusOf(url)).toBe(404);
  });
});

describe('the one path', () => {
  it.each(['DELETE', 'PATCH', 'OPTIONS'])('rejects the method %s', async (method) => {
    const { client, service } = used();

    const answer = await client.send(`apikey=${service.apiKey}`, { method });

    expect(answer.status).toBe(405);
  });

  it('also responds without its last slash, and nowhere else', async () => {
    const { service, sources } = used();
    const query = new URLSearchParams({
      apikey: service.apiKey,
      ...image(),
      infile: sources.urlOf('a.png'),
    });

    const bare = await fetch(`${service.base}/api?${query}`);
    const other = await fetch(`${service.base}/api/more?${query}`);

    expect(await bare.text()).toMatch(/^\[Output\] /);
    expect(other.status).toBe(404);
  });

  it('returns plain text that browsers do not render and caches do not store', async () => {
    const { headers, body } = await used().client.ask({ app: '<script>alert(1)</script>' });

    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toContain('(UNKNOWN_APP)');
  });
});

describe('faults of the caller', () => {
  it('are all reported together, each with its parameter', async () => {
    const refusal = await used().client.refuse({
      app: 'imageproc',
      infile: 'ftp://example.org/',
      outfile: 'a.exe',
      '-resize': 'wide',
      '-qualty': 5,
    });

    expect(refusal.status).toBe(400);
    for (const name of ['infile', 'outfile', '-resize', '-qualty'])
      expect(refusal.message).toContain(`'${name}'`);
    expect(refusal.message).toContain("Did you mean '-quality'?");
  });

  it.each([
    [{ app: 'imgproc' }, 'UNKNOWN_APP'],
    [{ outfile: 'a.docx' }, 'UNSUPPORTED_CONVERSION'],
    [{ outfile: '%d.jpg' }, 'UNSUPPORTED_CONVERSION'],
    [{ outfile: '' }, 'MISSING_PARAMETER'],
    [{ infile: '' }, 'MISSING_PARAMETER'],
  ])('%j is %s', async (change, code) => {
    expect(await used().client.refuse({ ...image(), ...change })).toMatchObject({ status: 400, code });
  });

  it.each([
    ['none.png', 424, 'SOURCE_STATUS'],
    ['inside.png', 403, 'BLOCKED_ADDRESS'],
  ])('a source at %s is %i %s', async (infile, status, code) => {
    expect(await used().client.refuse(image(infile))).toMatchObject({ status, code });
  });

  it.each([
    'http://127.0.0.1:1/',
    'http://localhost/a.png',
    'http://10.0.0.1/',
    'http://[::ffff:127.0.0.1]/',
    'http://0x7f.1/',
  ])('no tool fetches from %s', async (infile) => {
    const { client } = used();
    const wanted = { imageproc: 'jpg', pdftools: 'jpg', doc2any: 'pdf', html2pdf: 'pdf', html2image: 'jpg' };

    const refusals = await Promise.all(
      Object.entries(wanted).map(([app, extension]) =>
        client.refuse({ app, infile, outfile: `a.${extension}` }),
      ),
    );

    expect(refusals.map(({ code }) => code)).toEqual(Array.from({ length: 5 }, () => 'BLOCKED_ADDRESS'));
    expect(new Set(refusals.map(({ message }) => message)).size).toBe(1);
  });
});

describe('a URL that was not encoded', () => {
  it('arrives complete', async () => {
    const { client, service, sources } = used();
    const raw = `${sources.urlOf('signed.png')}?token=a%20b%2Fc%3D&sig=d%2Be%26f&x-id=GetObject`;

    const answer = await client.send(
      `apikey=${service.apiKey}&app=imageproc&infile=${raw}&outfile=b.png&-resize=20x`,
    );

    const [address] = urlsIn(answer, 1);
    const bytes = Buffer.from(await (await fetch(address!)).arrayBuffer());
    expect(await sharp(bytes).metadata()).toMatchObject({ width: 20, height: 15 });
  });

  it('is followed through redirects', async () => {
    const { bytes } = await used().client.convert(image('moved.png'));

    expect(await sharp(bytes).metadata()).toMatchObject({ width: 40, height: 30 });
  });
});

describe('a result', () => {
  it('is the next call’s source, raw or encoded', async () => {
    const { client, service, sources } = used();
    const pdf = await client.resultUrl({
      app: 'html2pdf',
      infile: sources.urlOf('chapters.html'),
      outfile: 'chapters.pdf',
    });

    const encoded = await client.convert({
      app: 'pdftools',
      infile: pdf,
      outfile: 'a.png',
      '-r': 72,
      '-f': 3,
      '-l': 3,
    });
    const raw = await client.send(
      `apikey=${service.apiKey}&app=pdftools&infile=${pdf}&outfile=a.png&-r=72&-f=3&-l=3`,
    );
    const [picture] = urlsIn(raw, 1);
    const small = await client.convert({
      app: 'imageproc',
      infile: picture!,
      outfile: 'b.jpg',
      '-resize': '59x84!',
    });

    const { width, height } = await sharp(encoded.bytes).metadata();
    expect(Math.abs(width - 595.5)).toBeLessThan(1);
    expect(Math.abs(height - 842.5)).toBeLessThan(1);
    expect(await sharp(small.bytes).metadata()).toMatchObject({ format: 'jpeg', width: 59, height: 84 });
  });

  it('keeps its given name, cleaned', async () => {
    const address = await used().client.resultUrl({ ...image(), outfile: 'folder/Übersicht 1.jpg' });
    const reply = await fetch(address);

    expect(decodeURIComponent(new URL(address).pathname).split('/').at(-1)).toBe('Übersicht 1.jpg');
    expect(reply.headers.get('content-type')).toBe('image/jpeg');
    expect(reply.headers.get('content-disposition') ?? 'inline').toMatch(/^inline/);
  });

  it('has a URL that cannot be guessed or changed', async () => {
    const { client } = used();
    const addresses = [new URL(await client.resultUrl(image())), new URL(await client.resultUrl(image()))];
    const bent = new URL(addresses[0]!);
    bent.pathname = addresses[1]!.pathname;

    expect(addresses[0]!.pathname).not.toBe(addresses[1]!.pathname);
    expect(addresses[0]!.pathname).toMatch(/[0-9a-f]{32}\//);
    expect((await fetch(bent)).status).toBe(403);
    expect((await fetch(addresses[0]!.origin + addresses[0]!.pathname)).status).toBe(403);
  });
});

describe('concurrent calls', () => {
  it('get their own results', async () => {
    const widths = Array.from({ length: 20 }, (_, index) => 10 + index);

    const results = await Promise.all(
      widths.map((width) => used().client.convert({ ...image(), '-resize': `${width}x7!` })),
    );

    const found = await Promise.all(results.map(async ({ bytes }) => (await sharp(bytes).metadata()).width));
    expect(found).toEqual(widths);
  });

  // On AWS each call may be handled by a different router.
  it.skipIf(!ownService)(
    'that are identical share one conversion (needs a service of one machine)',
    async () => {
      const { client, sources } = used();
      sources.asked.length = 0;

      const addresses = await Promise.all(
        Array.from({ length: 5 }, () => client.resultUrl(image('slow.png'))),
      );

      expect(new Set(addresses.map((address) => new URL(address).pathname)).size).toBe(1);
      expect(sources.asked).toEqual(['slow.png']);
    },
  );

  it('of all tools succeed', async () => {
    const { client, sources } = used();
    const calls = [
      { app: 'pdftools', infile: 'report.pdf', outfile: 'a.png' },
      { app: 'html2pdf', infile: 'chapters.html', outfile: 'a.pdf' },
      { app: 'html2image', infile: 'chapters.html', outfile: 'a.png' },
      { app: 'imageproc', infile: 'a.png', outfile: 'a.webp' },
    ].map((call) => ({ ...call, infile: sources.urlOf(call.infile) }));

    const results = await Promise.all(calls.map((call) => client.convert(call)));

    expect(results.every(({ bytes }) => bytes.length > 50)).toBe(true);
    expect((await readPdf(results[1]!.bytes)).pages).toHaveLength(3);
  });
});

describe.skipIf(!ownService)('the log (needs a service of one machine)', () => {
  it('contains neither the key nor the query of a source', async () => {
    const { client, service, sources, log } = used();
    await client.ask({ ...image(), infile: `${sources.urlOf('a.png')}?token=very-secret` });
    await client.ask({ ...image(), infile: `${sources.urlOf('none.png')}?token=very-secret` });
    await client.ask({ ...image(), apikey: `${service.apiKey}X` });

    await expect.poll(log).toContain('"converted"');
    expect(log()).not.toMatch(/very-secret/);
    expect(log()).not.toContain(service.apiKey);
  });
});

describe('an error', () => {
  it('always has the same form', async () => {
    const { client, service } = used();
    const queries = [
      'app=%00',
      'app=%FF',
      'app=imageproc&infile=%',
      'app=imageproc&outfile=%d%d.png',
      '&&&==&a=b',
      '%ZZ',
    ];

    for (const query of queries) refusalIn(await client.send(`apikey=${service.apiKey}&${query}`));
  });
});
