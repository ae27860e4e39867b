import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import send from 'send';
import type { Tool } from '../../../functions/shared/tool.ts';
import * as tools from '../../../functions/tools.ts';

/** Folder of the sample files. */
export const SAMPLES_FOLDER = join(dirname(fileURLToPath(import.meta.url)), 'samples');

/** A sample request for each tool, in the order in which their engines start. */
export const SAMPLES = Object.values<Tool>(tools)
  .map(({ name, example }) => ({ tool: name, ...example }))
  .sort((a, b) => a.seconds.start - b.seconds.start);

export interface SampleServer {
  /** The `host:port` that the egress guard must allow. */
  readonly host: string;
  close(): void;
}

/** Serves the bundled samples on a loopback port. */
export async function serveSamples(): Promise<SampleServer> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://samples').pathname;
    send(request, path, { root: SAMPLES_FOLDER, index: false })
      .on('error', () => response.writeHead(404).end())
      .pipe(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  const { port } = server.address() as AddressInfo;
  return { host: `127.0.0.1:${port}`, close: () => server.close() };
}

/** Returns the query of a sample request, as a person would type it. Without a host, the service finds the sample itself. */
export function sampleQuery(
  { tool, infile, outfile, options }: (typeof SAMPLES)[number],
  host: string | undefined,
  apiKey: string,
): string {
  const source = host === undefined ? `sample:${infile}` : `http://${host}/${infile}`;
  const pairs = { apikey: apiKey, app: tool, infile: source, outfile, ...options };
  return (
    Object.entries(pairs)
      // Shells expand exclamation marks in double quotes.
      .map(([name, value]) => `${name}=${value.replaceAll('!', '%21')}`)
      .join('&')
  );
}
