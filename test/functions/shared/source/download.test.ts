import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEgressGuard, type EgressRules } from '../../../../functions/shared/egress/guard.ts';
import { ConversionError } from '../../../../functions/shared/errors.ts';
import { decodeFile } from '../../../../functions/shared/source/decode-file.ts';
import { type DownloadOptions, downloadSource } from '../../../../functions/shared/source/download.ts';
import { type Listening, serveHttp } from '../../../helpers/fault-server.ts';

/** Shorter time limits than in production, in the same order. */
const QUICK = { connect: 1000, headers: 800, idle: 600, whole: 1500 };
/** Time limits that a busy machine does not reach. */
const PATIENT = { connect: 60_000, headers: 60_000, idle: 60_000, whole: 60_000 };

let directory: string;
const servers: Listening[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'source-'));
});

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
  await rm(directory, { recursive: true, force: true });
});

function download(address: string, rules: EgressRules, options: Partial<DownloadOptions> = {}) {
  return downloadSource(address, {
    directory,
    egress: createEgressGuard(rules),
    limits: { sourceBytes: 1_000_000 },
    signal: new AbortController().signal,
    decode: decodeFile,
    budgets: PATIENT,
    ...options,
  });
}

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = await serveHttp(answer);
  servers.push(server);
  return { ...server, rules: { exceptions: [`127.0.0.1:${server.port}`] } };
}

describe('a valid source', () => {
  it('is written to disk with its size, name and media type', async () => {
    const { origin, rules } = await serve((_request, response) => {
      response.setHeader('content-type', 'Application/PDF; charset=binary');
      response.end('%PDF-1.7');
    });

    const source = await download(`${origin}/a/my%20file.pdf?x=1`, rules);

    expect(source).toEqual({
      path: join(directory, 'source'),
      name: 'my file.pdf',
      contentType: 'application/pdf',
      bytes: 8,
    });
    expect(await readFile(source.path, 'utf8')).toBe('%PDF-1.7');
  });

  it('is decompressed from every encoding', async () => {
    const compress = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync, zstd: zstdCompressSync };
    const { origin, rules } = await serve((request, response) => {
      const encoding = request.url!.slice(1) as keyof typeof compress;
      response.setHeader('content-encoding', encoding);
      response.end(compress[encoding]('plain text '.repeat(1000)));
    });

    for (const encoding of Object.keys(compress)) {
      const source = await download(`${origin}/${encoding}`, rules);

      expect(await readFile(source.path, 'utf8')).toBe('plain text '.repeat(1000));
      expect(source.bytes).toBe(11_000);
      await rm(source.path);
    }
  });

  // WSGI servers send what a view yields, which is often a row of a table or, by mistake, a letter.
  it.each([
    { each: 'row', unit: '12345,6\n', chunks: 40_000 },
    { each: 'letter', unit: 'a', chunks: 20_000 },
  ])('may be sent in a chunk for each $each', async ({ unit, chunks }) => {
    const { origin, rules } = await serve((_request, response) => {
      for (let chunk = 0; chunk < chunks; chunk += 1) response.write(unit);
      response.end();
    });

    const source = await download(origin, rules);

    expect(await readFile(source.path, 'utf8')).toBe(unit.repeat(chunks));
  });

  it('gets headers that identify the service and prevent loops', async () => {
    let headers: IncomingMessage['headers'] = {};
    const { origin, rules } = await serve((request, response) => {
      headers = request.headers;
      response.end('x');
    });

    await download(origin, rules);

    expect(headers).toMatchObject({ 'user-agent': 'docmill/0.1', 'cdn-loop': 'docmill' });
    expect(headers).not.toHaveProperty('authorization');
  });

  it('is named by its content disposition first, and never with a path', async () => {
    const names: Readonly<Record<string, string>> = {
      'attachment; filename="report.xls"': 'report.xls',
      'attachment; filename=report.xls': 'report.xls',
      'attachment; filename="../../etc/passwd"': 'passwd',
      'attachment; filename="C:\\\\temp\\\\a.doc"': 'a.doc',
      'attachment; filename="x.doc"; filename*=UTF-8\'\'na%C3%AFve.doc': 'naïve.doc',
      'attachment; filename="a\\"b.doc"': 'a"b.doc',
      "inline; filename*=UTF-8''%zz": 'address.bin',
      'attachment; filename=annual report.xls': 'annual report.xls',
      [Buffer.from('attachment; filename="日本.doc"').toString('latin1')]: '日本.doc',
      'attachment; filename="unterminated': 'address.bin',
      attachment: 'address.bin',
    };
    const { origin, rules } = await serve((request, response) => {
      response.setHeader(
        'content-disposition',
        Object.keys(names)[Number(request.headers.host && request.url!.split('?')[1])]!,
      );
      response.end('x');
    });

    for (const [index, name] of Object.values(names).entries()) {
      const source = await download(`${origin}/address.bin?${index}`, rules);

      expect(source.name).toBe(name);
      await rm(source.path);
    }
  });
});

describe('redirects', () => {
  it('are followed five times, including relative ones', async () => {
    const { origin, rules } = await serve((request, response) => {
      const left = Number(request.url!.slice(1));
      if (left === 0) return response.end('here');
      response.writeHead([301, 302, 303, 307, 308][left % 5]!, { location: `./${left - 1}` }).end('moved');
    });

    const source = await download(`${origin}/5`, rules);

    expect(await readFile(source.path, 'utf8')).toBe('here');
    await expect(download(`${origin}/6`, rules)).rejects.toMatchObject({ code: 'SOURCE_UNREACHABLE' });
  });

  it('end if they are circular', async () => {
    const { origin, rules, connections } = await serve((_request, response) => {
      response.writeHead(302, { location: '/' }).end();
    });

    await expect(download(origin, rules)).rejects.toMatchObject({ code: 'SOURCE_UNREACHABLE' });

    expect(connections()).toBe(6);
  });

  it('never lead to a host that the guard blocks', async () => {
    const prize = await serve((_request, response) => response.end('secret'));
    const targets = [
      `http://127.0.0.1:${prize.port}/`,
      `http://localhost:${prize.port}/`,
      `http://[::ffff:127.0.0.1]:${prize.port}/`,
      `//127.0.0.1:${prize.port}/`,
      'http://169.254.169.254/latest/meta-data/',
      'https://10.0.0.1/',
      'file:///etc/passwd',
      'data:text/plain,x',
    ];
    const { origin, rules } = await serve((request, response) => {
      response.writeHead(302, { location: targets[Number(request.url!.slice(1))]! }).end();
    });

    for (const index of targets.keys()) {
      const refused = download(`${origin}/${index}`, rules);
      await expect(refused).rejects.toMatchObject({ code: expect.stringMatching(/^(BLOCKED|BAD)_ADDRESS$/) });
    }

    expect(prize.connections()).toBe(0);
  });

  it('get the user and password of the URL only on the same origin', async () => {
    const seen: (string | undefined)[] = [];
    const other = await serve((request, response) => {
      seen.push(request.headers.authorization);
      response.end('x');
    });
    const first = await serve((request, response) => {
      seen.push(request.headers.authorization);
      const location = request.url === '/' ? '/again' : `http://evil:pass@127.0.0.1:${other.port}/`;
      response.writeHead(302, { location }).end();
    });
    const exceptions = [...first.rules.exceptions, ...other.rules.exceptions];

    await download(`http://us%C3%A9r:p%3Aw@127.0.0.1:${first.port}/`, { exceptions });

    const basic = `Basic ${Buffer.from('usér:p:w').toString('base64')}`;
    expect(seen).toEqual([basic, basic, undefined]);
  });
});

describe('an invalid source', () => {
  it('is reported with its status', async () => {
    const { origin, rules } = await serve((request, response) => {
      response.writeHead(Number(request.url!.slice(1))).end('an error page');
    });

    for (const status of [206, 300, 304, 400, 401, 403, 404, 410, 418, 429, 500, 502, 503, 599]) {
      await expect(download(`${origin}/${status}`, rules)).rejects.toMatchObject({
        code: 'SOURCE_STATUS',
        message: `The source server returned status ${status}.`,
      });
    }
  });

  it('is limited by its size after decompression', async () => {
    const bomb = gzipSync(Buffer.alloc(200_000_000));
    const twice = gzipSync(bomb);
    const { origin, rules } = await serve((request, response) => {
      response.setHeader('content-encoding', request.url === '/twice' ? 'gzip, gzip' : 'gzip');
      response.end(request.url === '/twice' ? twice : bomb);
    });

    await expect(download(origin, rules)).rejects.toMatchObject({ code: 'SOURCE_TOO_LARGE' });
    await rm(directory, { recursive: true });
    await mkdir(directory);
    await expect(download(`${origin}/twice`, rules)).rejects.toMatchObject({ code: 'SOURCE_TOO_LARGE' });

    expect((await readFile(join(directory, 'source'))).length).toBeLessThanOrEqual(1_000_000);
  });

  it('is accepted at exactly the limit, and rejected with one byte more', async () => {
    const { origin, rules } = await serve((request, response) => {
      response.write(Buffer.alloc(Number(request.url!.slice(1))));
      response.end();
    });

    const whole = await download(`${origin}/1000000`, rules);
    await rm(whole.path);

    expect(whole.bytes).toBe(1_000_000);
    await expect(download(`${origin}/1000001`, rules)).rejects.toMatchObject({ code: 'SOURCE_TOO_LARGE' });
  });

  it('is unreachable if nothing listens or the certificate is invalid', async () => {
    const { port, close } = await serveHttp((_request, response) => response.end('plain'));
    const rules = { exceptions: [`127.0.0.1:${port}`] };

    await expect(download(`https://127.0.0.1:${port}/`, rules)).rejects.toMatchObject({
      code: 'SOURCE_UNREACHABLE',
    });
    await close();
    await expect(download(`http://127.0.0.1:${port}/`, rules)).rejects.toMatchObject({
      code: 'SOURCE_UNREACHABLE',
      message: 'The source server could not be reached: the connection was refused.',
    });
  });
});

describe('the time limit', () => {
  it('ends a download at the deadline of the conversion, with its reason', async () => {
    const { origin, rules } = await serve(() => {});
    const late = new AbortController();
    const reason = new ConversionError('TIMED_OUT', 'The conversion timed out.');
    setTimeout(() => late.abort(reason), 50);

    const ended = download(origin, rules, { signal: late.signal });

    await expect(ended).rejects.toBe(reason);
  });

  it('includes all redirects', async () => {
    const { origin, rules } = await serve((request, response) => {
      setTimeout(() => response.writeHead(302, { location: `${request.url}1` }).end(), 400);
    });

    await expect(download(origin, rules, { budgets: QUICK })).rejects.toMatchObject({
      code: 'SOURCE_TIMEOUT',
    });
  });
});

it('never connects to a name that resolves to a public address first and to loopback next, in 1000 tries', async () => {
  const prize = await serve((_request, response) => response.end('secret'));
  let asked = 0;
  const resolve = async () => [asked++ % 2 === 0 ? '192.0.3.1' : '127.0.0.1'];
  const rules = { resolve, ports: [prize.port] };

  const codes = [];
  for (let round = 0; round < 1000; round++) {
    const options = { budgets: { ...PATIENT, connect: 1 } };
    codes.push(
      await download(`http://name.example:${prize.port}/`, rules, options).catch((error) => error.code),
    );
  }

  expect(codes.filter((_, index) => index % 2 === 1)).toEqual(Array(500).fill('BLOCKED_ADDRESS'));
  expect(new Set(codes)).not.toContain(undefined);
  expect(asked).toBe(1000);
  expect(prize.connections()).toBe(0);
});
