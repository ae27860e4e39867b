import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { inParallel } from '../../../../layers/parallel.ts';
import { makePdf } from '../../../fixtures/pdf.ts';
import { der, selfSigned } from '../../../helpers/certificate.ts';
import { serveHttp } from '../../../helpers/fault-server.ts';
import { MAX_DELAY } from '../../neighbor/heartbeat.ts';
import { withSharedService } from '../../neighbor/service.ts';
import { judge, MAX_MEMORY } from '../../neighbor/verdict.ts';
import { SHORT_FORM_DELAY } from '../../neighbor/watch.ts';
import type { Row } from '../../row.ts';

/** The most that OpenSSL takes. */
const PRIME_BITS = 10_000;

const keyExchange: Row = {
  name: 'key-exchange',
  title: 'TLS servers that choose a key exchange of 10,000 bits',
  figures: 'slowest request of another account',
  target: `≤ ${MAX_DELAY} ms, none failed`,
  async run({ times }) {
    const source = await serveFiniteField();
    const { port } = source.address() as AddressInfo;
    const reached = await withSharedService({ sources: [port] }, async (service) => {
      await service.heartbeat.reset();
      await inParallel([...Array(times(8, 2)).keys()], 8, (index) =>
        service.attacker.ask({
          app: 'imageproc',
          infile: `https://127.0.0.1:${port}/${index}`,
          outfile: 'x.png',
        }),
      );
      return judge(service, times(MAX_DELAY, SHORT_FORM_DELAY));
    });
    source.closeAllConnections();
    source.close();
    return reached;
  },
};

/** A server that only offers Diffie-Hellman with a prime that no client knows, or what is just as slow, any odd number. */
async function serveFiniteField(): Promise<Server> {
  const prime = randomBytes(PRIME_BITS / 8);
  prime[0]! |= 0x80;
  prime[prime.length - 1]! |= 1;
  const integers = [Buffer.concat([Buffer.alloc(1), prime]), Buffer.from([2])];
  const group = der(0x30, ...integers.map((integer) => der(0x02, integer)));
  const text = group.toString('base64').replace(/.{64}/g, '$&\n');
  const server = createServer(
    {
      ...selfSigned('127.0.0.1', 'rsa'),
      dhparam: `-----BEGIN DH PARAMETERS-----\n${text}\n-----END DH PARAMETERS-----\n`,
      ciphers: 'DHE-RSA-AES128-GCM-SHA256',
      maxVersion: 'TLSv1.2',
    },
    (_request, response) => response.end(),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const optionImages: Row = {
  name: 'option-images',
  title: 'images of `-composite` beside one that is missing',
  figures: 'connections after the reply; slowest request of another account',
  target: `0; ≤ ${MAX_DELAY} ms`,
  async run({ times }) {
    let open = 0;
    const picture = Buffer.alloc(45_000_000, 'x');
    const source = await serveHttp((request, response) => {
      if (request.url?.startsWith('/missing')) return void response.writeHead(404).end();
      if (request.url?.startsWith('/a.png')) return void response.end(PNG);
      open += 1;
      response.once('close', () => {
        open -= 1;
      });
      response.write(picture);
    });
    const reached = await withSharedService({ sources: [source.port] }, async (service) => {
      await service.heartbeat.reset();
      await inParallel([...Array(times(20, 4)).keys()], 20, (index) => {
        const query = new URLSearchParams({
          apikey: service.attacker.apiKey,
          app: 'imageproc',
          outfile: 'x.png',
          infile: `${source.origin}/a.png?${index}`,
        });
        query.append('-composite', `${source.origin}/missing`);
        for (let image = 0; image < 8; image++)
          query.append('-composite', `${source.origin}/image/${index}/${image}`);
        return fetch(`http://127.0.0.1:${service.port}/api/?${query}`).then((response) => response.text());
      });
      const left = open;
      const verdict = await judge(service, times(MAX_DELAY, SHORT_FORM_DELAY));
      const failures = left > 0 ? [`${left} connections after the reply`] : [];
      return {
        ...verdict,
        figure: `${left}; ${verdict.figure}`,
        failures: [...failures, ...verdict.failures],
      };
    });
    await source.close();
    return reached;
  },
};

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==',
  'base64',
);

const largePages: Row = {
  name: 'large-pages',
  title: 'pages of 60 MB in a zip',
  figures: 'MiB of the server; slowest request of another account',
  target: `≤ ${MAX_MEMORY} MiB; ≤ ${MAX_DELAY} ms`,
  async run({ times }) {
    const pdf = noisyPage();
    const source = await serveHttp((_request, response) => response.end(pdf));
    const reached = await withSharedService({ sources: [source.port] }, async (service) => {
      await service.heartbeat.reset();
      const failures: string[] = [];
      for (let call = 0; call < times(3, 1); call += 1) {
        const query = { app: 'pdftools', outfile: 'n.tiff.zip', '-scale-to': '4500' };
        const { body, results } = await service.attacker.ask({
          ...query,
          infile: `${source.origin}/${call}`,
        });
        if (results.length !== 1) failures.push(body.slice(0, 120));
      }
      const verdict = await judge(service, times(MAX_DELAY, SHORT_FORM_DELAY));
      return { ...verdict, failures: [...failures, ...verdict.failures] };
    });
    await source.close();
    return reached;
  },
};

/** A page with a picture of random pixels, which cannot be compressed. */
function noisyPage(): Buffer {
  const side = 3900;
  const pixels = randomBytes(3 * side * side).toString('latin1');
  const image = `BI /W ${side} /H ${side} /CS /RGB /BPC 8 ID ${pixels} EI`;
  return makePdf([{ width: 500, height: 500, content: `q 500 0 0 500 0 0 cm ${image} Q` }]);
}

/** Rows about work that only the main thread of the server can do. */
export const mainThreadRows: readonly Row[] = [keyExchange, optionImages, largePages];
