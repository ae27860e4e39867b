import * as tools from '../../../functions/tools.ts';
import { DOCUMENT_BOMBS } from '../../fixtures/bombs/documents.ts';
import { IMAGE_BOMBS } from '../../fixtures/bombs/images.ts';
import { PDF_BOMBS } from '../../fixtures/bombs/pdfs.ts';
import { slowChain } from '../../helpers/certificate.ts';
import { RAW_FAULTS, serveHttp, serveRaw, serveTls } from '../../helpers/fault-server.ts';
import { HELPERS, HOSTILE_PAGES } from '../attacks/hostile-pages.ts';
import { costlyBodies, KEYLESS_PATHS, postParts } from '../attacks/keyless.ts';
import { PARSED_FILES } from '../attacks/parsed-files.ts';
import type { Answer } from '../deployment/deployment.ts';
import type { SharedService } from '../neighbor/service.ts';

/** One request of an attacker. Returns its answer, or nothing for one that is not a conversion. */
export interface Attack {
  readonly name: string;
  run(service: Pick<SharedService, 'attacker' | 'port'>): Promise<Answer | undefined>;
}

export interface Attacks {
  readonly all: readonly Attack[];
  /** Loopback ports of the sources. */
  readonly ports: readonly number[];
  close(): Promise<unknown>;
}

const OUTFILES: Readonly<Record<string, string>> = { html2pdf: 'x.pdf', doc2any: 'x.pdf' };
/** A chain of certificates is expensive to create. This one is not the longest that OpenSSL accepts. */
const CHAIN = 40;

/** Starts the sources of every attack of the other rows that needs no service of its own. */
export async function serveAttacks(): Promise<Attacks> {
  const bombs = [...IMAGE_BOMBS, ...PDF_BOMBS, ...DOCUMENT_BOMBS];
  const files = new Map<string, () => Promise<Buffer> | Buffer>([
    ...bombs.map(({ bytes }, index) => [`/bomb-${index}`, bytes] as const),
    ...Object.entries(PARSED_FILES).map(([name, bytes]) => [`/${name}`, bytes] as const),
  ]);
  const made = new Map<string, Promise<Buffer> | Buffer | undefined>();
  const fileAt = (path: string) => {
    if (!made.has(path)) made.set(path, files.get(path)?.());
    return made.get(path);
  };
  const source = await serveHttp(async (request, response) => {
    const path = decodeURIComponent(request.url?.split('?')[0] ?? '');
    const page = HELPERS[path] ?? HOSTILE_PAGES[path.slice(1)];
    if (typeof page === 'function') return page(response);
    if (page !== undefined) return void response.setHeader('content-type', 'text/html').end(page);
    const bytes = await fileAt(path);
    response.writeHead(bytes ? 200 : 404).end(bytes);
  });
  const faults = await Promise.all(
    Object.entries(RAW_FAULTS).map(async ([name, { answer }]) => ({ name, server: await serveRaw(answer) })),
  );
  const chain = await serveTls(slowChain(CHAIN), (_request, response) => response.end());

  let asked = 0;
  const convert = (
    name: string,
    app: string,
    url: string,
    options: Readonly<Record<string, string>> = {},
  ): Attack => ({
    name: `${app}: ${name}`,
    run: ({ attacker }) =>
      // Each time another URL, which nobody else is waiting for.
      attacker.ask({ app, infile: `${url}?${asked++}`, outfile: OUTFILES[app] ?? 'x.png', ...options }),
  });
  const keyless = (name: string, path: string): Attack => ({
    name: `without a key: ${name}`,
    run: async ({ port }) => {
      await fetch(`http://127.0.0.1:${port}${path}`).then((response) => response.text());
      return undefined;
    },
  });
  const bodies = costlyBodies();
  const all = [
    ...Object.keys(HOSTILE_PAGES).flatMap((name) =>
      ['html2image', 'html2pdf'].map((app) =>
        convert(name, app, `${source.origin}/${encodeURIComponent(name)}`),
      ),
    ),
    ...bombs.map(({ name, app, options }, index) =>
      convert(name, app, `${source.origin}/bomb-${index}`, options),
    ),
    ...Object.keys(PARSED_FILES).map((name) => convert(name, 'doc2any', `${source.origin}/${name}`)),
    ...faults.flatMap(({ name, server: { origin } }) =>
      Object.keys(tools).map((app) => convert(`a source that ${name}`, app, `${origin}/x.pdf`)),
    ),
    convert('a slow chain of certificates', 'imageproc', `${chain.origin}/`),
    ...KEYLESS_PATHS.map((path) => keyless(path.slice(0, 40), path)),
    ...bodies.map((body, index) => ({
      name: `without a key: costly body ${index}`,
      run: ({ port }: Pick<SharedService, 'port'>) => postParts(port, body).then(() => undefined),
    })),
  ];
  const servers = [source, chain, ...faults.map(({ server }) => server)];
  return {
    all,
    ports: servers.map(({ port }) => port),
    close: () => Promise.all(servers.map((server) => server.close())),
  };
}
