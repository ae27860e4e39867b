import { randomBytes } from 'node:crypto';
import type { ServerOptions } from 'node:https';
import { setTimeout } from 'node:timers/promises';
import { constants, zstdCompressSync } from 'node:zlib';
import { makePdf } from '../../../fixtures/pdf.ts';
import { der, selfSigned, slowChain } from '../../../helpers/certificate.ts';
import { serveTls } from '../../../helpers/fault-server.ts';
import { PARSED_FILES } from '../../attacks/parsed-files.ts';
import { MAX_DELAY, MAX_MEMORY } from '../../neighbor/verdict.ts';
import type { Row } from '../../row.ts';
import { neighborRow, PICTURE, repeat } from './neighbor-row.ts';

/** Maximum milliseconds of the main thread for one file. The shortest attack that once worked took 650. */
const MAX_CPU = 300;
const SILENT_NAMES = 400;
/** Certificates that OpenSSL accepts at most in a chain, without the one of the authority. */
const CHAIN = 99;
/** The most that OpenSSL takes. */
const PRIME_BITS = 10_000;

const silentDns = neighborRow({
  name: 'silent-dns',
  title: 'images on hosts with a silent name server',
  source: (_request, response) => {
    const images = Array.from({ length: SILENT_NAMES }, (_, index) => {
      return `<img src="http://n${index}-${Math.random()}.silent.test/x.png">`;
    });
    response.setHeader('content-type', 'text/html');
    response.end(`<!doctype html>${images.join('')}`);
  },
  settings: { environment: { CONVERSION_TIME: '30' } },
  async attack({ attacker }, origin) {
    await repeat(4, 4, (page) =>
      attacker.ask({ app: 'html2image', infile: `${origin}/${page}`, outfile: 'x.png' }),
    );
    return {};
  },
});

const fullQueue = neighborRow({
  name: 'full-queue',
  title: 'a queue full of sources that never end',
  figures: 'conversions of another account',
  target: `none refused, heartbeat ≤ ${MAX_DELAY} ms`,
  source: ({ url }, response) => {
    if (url === '/picture') return void response.end(PICTURE);
    response.writeHead(200, { 'content-type': 'image/png' }).write('x');
  },
  settings: { environment: { QUEUE: '16', CONVERSION_TIME: '20' } },
  async attack(service, origin) {
    let attacking = true;
    const attack = Array.from({ length: 40 }, async (_, lane) => {
      for (let call = 0; attacking; call += 1) {
        const infile = `${origin}/${lane}/${call}`;
        const { code } = await service.attacker.ask({ app: 'imageproc', infile, outfile: 'x.png' });
        if (code === 'OVERLOADED') await setTimeout(100);
      }
    });
    await setTimeout(500);
    const answers = [];
    for (let call = 0; call < 40; call += 1) {
      const query = { app: 'imageproc', infile: `${origin}/picture`, outfile: `${call}-x.jpg` };
      answers.push(await service.neighbor.ask(query));
    }
    attacking = false;
    await Promise.race([Promise.all(attack), setTimeout(22_000)]);
    const delays = answers.map(({ milliseconds }) => milliseconds).toSorted((a, b) => a - b);
    return {
      figure: `p95 ${delays[Math.floor(delays.length * 0.95)]} ms`,
      failures: answers.filter(({ results }) => results.length !== 1).map(({ body }) => body.slice(0, 120)),
    };
  },
});

const made = new Map<string, Buffer>();

const hostileParsing = neighborRow({
  name: 'hostile-parsing',
  title: 'sources that are slow to parse',
  figures: 'slowest request of another account; CPU time of the main thread',
  target: `≤ ${MAX_DELAY} ms; ≤ ${MAX_CPU} ms a file`,
  source: ({ url = '' }, response) => void response.end(made.get(url)),
  settings: { environment: { CONVERSION_TIME: '30' } },
  async attack(service, origin) {
    for (const [name, make] of Object.entries(PARSED_FILES)) made.set(`/${name}`, make());
    const failures: string[] = [];
    const notes: string[] = [];
    // LibreOffice uses its whole time limit for the last one.
    for (const path of made.keys()) {
      const before = service.mainThreadTime();
      const query = { app: 'doc2any', infile: `${origin}${path}`, outfile: 'x.pdf' };
      const { code, milliseconds } = await service.attacker.ask(query);
      const cpu = service.mainThreadTime() - before;
      notes.push(`${path}: ${code ?? 'a result'} in ${milliseconds} ms, main thread ${cpu} ms`);
      // The heartbeat needs some of them too.
      if (cpu > MAX_CPU + milliseconds / 10) failures.push(notes.at(-1)!);
    }
    made.clear();
    return { failures, notes };
  },
});

const wideWindows = neighborRow({
  name: 'wide-windows',
  title: 'wide zstd windows and gzip bombs',
  figures: 'MiB of the server; slowest request of another account',
  target: `≤ ${MAX_MEMORY} MiB; ≤ ${MAX_DELAY} ms`,
  source: (_request, response) => {
    response.writeHead(200, { 'content-encoding': 'zstd' }).end(wideWindow());
  },
  async attack({ attacker }, origin) {
    const codes = await repeat(32, 32, async (index) => {
      const query = { app: 'imageproc', infile: `${origin}/${index}`, outfile: 'x.png' };
      return `${(await attacker.ask(query)).code}`;
    });
    const unexpected = codes.filter((code) => !['CORRUPT_SOURCE', 'SOURCE_TOO_LARGE'].includes(code));
    return { failures: unexpected.length > 0 ? [`answers: ${[...new Set(unexpected)]}`] : [] };
  },
});

let compressed: Buffer | undefined;
function wideWindow(): Buffer {
  const params = { [constants.ZSTD_c_windowLog]: 27, [constants.ZSTD_c_compressionLevel]: 1 };
  compressed ??= zstdCompressSync(Buffer.alloc(140_000_000), { params });
  return compressed;
}

/** Creates a row in which sources are expensive to connect to. */
const tlsRow = (name: string, title: string, calls: number, options: () => ServerOptions): Row =>
  neighborRow({
    name,
    title,
    serve: () => serveTls(options(), (_request, response) => response.end()),
    async attack({ attacker }, origin) {
      await repeat(calls, 20, (index) =>
        attacker.ask({ app: 'imageproc', infile: `${origin}/${index}`, outfile: 'x.png' }),
      );
      return {};
    },
  });

const certificateChain = tlsRow('certificate-chain', 'TLS servers with 99 slow certificates', 60, () =>
  slowChain(CHAIN),
);

/** A server that only offers Diffie-Hellman with a prime that no client knows, or what is just as slow, any odd number. */
const keyExchange = tlsRow('key-exchange', 'TLS servers that choose a key exchange of 10,000 bits', 8, () => {
  const prime = randomBytes(PRIME_BITS / 8);
  prime[0]! |= 0x80;
  prime[prime.length - 1]! |= 1;
  const integers = [Buffer.concat([Buffer.alloc(1), prime]), Buffer.from([2])];
  const group = der(0x30, ...integers.map((integer) => der(0x02, integer)));
  const text = group.toString('base64').replace(/.{64}/g, '$&\n');
  return {
    ...selfSigned('127.0.0.1', 'rsa'),
    dhparam: `-----BEGIN DH PARAMETERS-----\n${text}\n-----END DH PARAMETERS-----\n`,
    ciphers: 'DHE-RSA-AES128-GCM-SHA256',
    maxVersion: 'TLSv1.2',
  };
});

let open = 0;

const optionImages = neighborRow({
  name: 'option-images',
  title: 'images of `-composite` beside one that is missing',
  figures: 'connections after the reply; slowest request of another account',
  target: `0; ≤ ${MAX_DELAY} ms`,
  source: ({ url = '' }, response) => {
    if (url.startsWith('/missing')) return void response.writeHead(404).end();
    if (url.startsWith('/picture')) return void response.end(PICTURE);
    open += 1;
    response.once('close', () => {
      open -= 1;
    });
    response.write(Buffer.alloc(45_000_000, 'x'));
  },
  async attack({ attacker, port }, origin) {
    await repeat(20, 20, async (index) => {
      const infile = `${origin}/picture?${index}`;
      const query = new URLSearchParams({
        apikey: attacker.apiKey,
        app: 'imageproc',
        outfile: 'x.png',
        infile,
      });
      query.append('-composite', `${origin}/missing`);
      for (let image = 0; image < 8; image++) query.append('-composite', `${origin}/image/${index}/${image}`);
      await (await fetch(`http://127.0.0.1:${port}/api/?${query}`)).text();
    });
    const left = open;
    return { figure: `${left}`, failures: left > 0 ? [`${left} connections after the reply`] : [] };
  },
});

let noisyPage: Buffer | undefined;

const largePages = neighborRow({
  name: 'large-pages',
  title: 'pages of 60 MB in a zip',
  figures: 'MiB of the server; slowest request of another account',
  target: `≤ ${MAX_MEMORY} MiB; ≤ ${MAX_DELAY} ms`,
  source: (_request, response) => response.end(noisyPage),
  async attack({ attacker }, origin) {
    noisyPage = makeNoisyPage();
    const query = { app: 'pdftools', outfile: 'n.tiff.zip', '-scale-to': '4500' };
    const answers = await repeat(3, 1, (call) => attacker.ask({ ...query, infile: `${origin}/${call}` }));
    return {
      failures: answers.filter(({ results }) => results.length !== 1).map(({ body }) => body.slice(0, 120)),
    };
  },
});

/** A page with a picture of random pixels, which cannot be compressed. */
function makeNoisyPage(): Buffer {
  const side = 3900;
  const pixels = randomBytes(3 * side * side).toString('latin1');
  const image = `BI /W ${side} /H ${side} /CS /RGB /BPC 8 ID ${pixels} EI`;
  return makePdf([{ width: 500, height: 500, content: `q 500 0 0 500 0 0 cm ${image} Q` }]);
}

/** Rows about sources that are expensive for the server or its downloads. */
export const downloadRows: readonly Row[] = [
  silentDns,
  fullQueue,
  hostileParsing,
  wideWindows,
  certificateChain,
  keyExchange,
  optionImages,
  largePages,
];
