import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openService, type ServiceUnderTest } from '../../../lab/service.ts';

const PICTURE = join(import.meta.dirname, '../../../../infra/local/self-check/samples/picture.png');

let directory: string;
let source: Awaited<ReturnType<typeof slowSource>>;
let service: ServiceUnderTest;
let log: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'stop-'));
  source = await slowSource(await readFile(PICTURE), 'image/png');
  log = '';
});
afterEach(async () => {
  await service.close();
  source.close();
  await rm(directory, { recursive: true });
});

/** Starts a service, and a conversion whose source waits. */
async function startConversion(settings: Readonly<Record<string, string>> = {}) {
  service = await openService({
    sources: [source.host],
    settings: { DATA_DIR: directory, TMPDIR: directory, ...settings },
    log: (text) => (log += text),
  });
  const running = ask({ app: 'imageproc', infile: source.url, outfile: 'a.jpg', '-resize': '40x30!' });
  await source.requested();
  return { running };
}

const ask = (query: Readonly<Record<string, string>>) =>
  fetch(`${service.base}/api/?${new URLSearchParams({ apikey: service.apiKey, ...query })}`);

describe('a service that is closed during a conversion', () => {
  it('finishes it, and responds 503 to new requests meanwhile', async () => {
    const { running } = await startConversion();

    const closed = service.close();
    let refused = await ask({});
    // The signal arrives after the call.
    for (; refused.status !== 503; refused = await ask({})) await setTimeout(20);
    const health = await fetch(`${service.base}/api/health`);
    source.release();
    const response = await running;

    expect(await refused.text()).toBe('[ERROR] The service is stopping. Retry in 5 seconds. (OVERLOADED)');
    expect(refused.headers.get('retry-after')).toBe('5');
    await expect.poll(() => log).toContain(`"requestId":"${refused.headers.get('x-request-id')}"`);
    expect(health.status).toBe(503);
    expect(response.status).toBe(200);
    expect(await response.text()).toMatch(/^\[Output\] \S+<br>$/);
    expect(await closed).toEqual([]);
    expect(await readdir(join(directory, 'results'))).not.toEqual([]);
  });

  it('ends it after STOP_TIME, and leaves nothing behind', async () => {
    const { running } = await startConversion({ STOP_TIME: '1' });
    const lost = running.then(
      ({ status }) => status,
      () => 'disconnected',
    );

    expect(await service.close()).toEqual([]);

    expect(await lost).toBe('disconnected');
    await expect.poll(() => log).toContain('"event":"stopped with conversions in progress","requests":1');
    expect((await readdir(directory)).filter((name) => name.startsWith('docmill-'))).toEqual([]);
  });
});

/** A source that sends its response only when it is told to. */
async function slowSource(body: Buffer, contentType: string) {
  const waiting: ServerResponse[] = [];
  const server = createServer((_, response) => void waiting.push(response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    url: `http://${host}/source`,
    /** Waits until somebody downloads it. */
    async requested() {
      if (waiting.length === 0) await once(server, 'request');
    },
    release() {
      for (const response of waiting.splice(0)) response.setHeader('Content-Type', contentType).end(body);
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
