import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll } from 'vitest';
import { createDynamoTable } from '../../functions/platform/aws/table.ts';
import { createKeys } from '../../functions/platform/key-store.ts';
import { quarters } from '../fixtures/image.ts';
import { chapters } from '../fixtures/page.ts';
import { makePdf, numberedPages } from '../fixtures/pdf.ts';
import { type Emulator, startEmulator } from '../lambda-emulator/emulator.ts';
import { publicAddress } from '../lambda-emulator/network.ts';

/** One conversion of each tool, with a source of `SOURCES`. */
export const CALLS = [
  { app: 'pdftools', infile: 'a.pdf', outfile: 'a.png' },
  { app: 'html2pdf', infile: 'a.html', outfile: 'a.pdf' },
  { app: 'html2image', infile: 'a.html', outfile: 'a.png' },
  { app: 'imageproc', infile: 'a.png', outfile: 'a.jpg' },
  { app: 'doc2any', infile: 'a.docx', outfile: 'a.pdf' },
] as const;

/** A page that allocates memory in several processes without end: canvases, and arrays in its script. */
const HUNGRY = `<!doctype html><p>hungry</p><script>
  const kept = [];
  const eat = () => { for (let i = 0; i < 4; i++) kept.push(new Uint8Array(8e6).fill(i + 1)); };
  setInterval(eat, 20);
  document.fonts.ready.then(() => { const end = Date.now() + 15000; while (Date.now() < end) eat(); });
</script>`;

/** A page that WebGL fills with green. */
const WEBGL = `<!doctype html><body style="margin:0"><canvas id="c" width="100" height="100"></canvas><script>
  const gl = c.getContext('webgl', { preserveDrawingBuffer: true });
  gl.clearColor(0, 1, 0, 1);
  gl.clear(gl.COLOR_BUFFER_BIT);
</script>`;

export interface UsedEmulator {
  readonly emulator: Emulator;
  /** URL of a source, and any number of path segments in front of its name. */
  urlOf(path: string): string;
  /** Sends one request and returns status, headers and body. */
  ask(query: Readonly<Record<string, string>>, apiKey?: string): Promise<Asked>;
  /** Creates a key of another account. */
  newKey(): Promise<string>;
}

export interface Asked {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Runs an emulator and a server of sources for the tests of one file or block. */
export function useEmulator(options: Partial<Parameters<typeof startEmulator>[0]> = {}): () => UsedEmulator {
  let started: UsedEmulator;
  const server = createServer();
  beforeAll(async () => {
    const sources: Readonly<Record<string, Buffer | string>> = {
      'a.pdf': makePdf(numberedPages(3)),
      'a.html': chapters(2),
      'hungry.html': HUNGRY,
      'webgl.html': WEBGL,
      'a.png': await quarters(400, 300).png().toBuffer(),
      // Noise does not compress: more than 4.5 MB.
      'noise.png': await sharp(randomBytes(1600 * 1200 * 3), {
        raw: { width: 1600, height: 1200, channels: 3 },
      })
        .png()
        .toBuffer(),
      'a.docx': readFileSync(join(import.meta.dirname, '../fixtures/office/text.docx')),
    };
    server.on('request', (request, response) => {
      const name = (request.url ?? '').split('/').at(-1)!;
      if (name.endsWith('.html')) response.setHeader('content-type', 'text/html; charset=utf-8');
      response.writeHead(name in sources ? 200 : 404).end(sources[name] ?? '');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const place = publicAddress((server.address() as AddressInfo).port);
    const emulator = await startEmulator({ log: () => {}, ...options });
    started = {
      emulator,
      urlOf: (path) => `${place}/${path}`,
      async ask(query, apiKey = emulator.apiKey) {
        const response = await fetch(
          `${emulator.base}/api/?${new URLSearchParams({ apikey: apiKey, ...query })}`,
        );
        return { status: response.status, headers: response.headers, body: await response.text() };
      },
      newKey: async () => {
        const keys = createKeys(createDynamoTable({ client: emulator.table.client, table: 'keys' }));
        return (await keys.create({ name: 'account' })).apiKey;
      },
    };
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await started.emulator.close();
  });
  return () => started;
}
