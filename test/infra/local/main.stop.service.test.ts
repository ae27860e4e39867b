import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { processesBelow } from '../../helpers/leftovers.ts';
import { type Server, slowSource, startServer } from './server.ts';

const PICTURE = join(import.meta.dirname, '../../../infra/local/self-check/samples/picture.png');

let source: Awaited<ReturnType<typeof slowSource>>;
let server: Server;
beforeEach(async () => {
  source = await slowSource(await readFile(PICTURE), 'image/png');
});
afterEach(async () => {
  await server.close();
  source.close();
});

const query = () => ({ app: 'imageproc', infile: source.url, outfile: 'a.jpg', '-resize': '40x30!' });

describe('a server that is stopped during a conversion', () => {
  it('finishes it, and responds 503 to new requests meanwhile', async () => {
    server = await startServer({ settings: { ALLOW_SOURCES: source.host } });
    const running = server.ask(query());
    await source.requested();

    server.stop();
    let refused = await server.ask({});
    // The signal arrives after the call.
    for (; refused.status !== 503; refused = await server.ask({})) await setTimeout(20);
    const health = await fetch(`${server.base}/api/health`);
    source.release();
    const response = await running;

    expect(await refused.text()).toBe('[ERROR] The service is stopping. Retry in 5 seconds. (OVERLOADED)');
    expect(refused.headers.get('retry-after')).toBe('5');
    await expect.poll(server.log).toContain(`"requestId":"${refused.headers.get('x-request-id')}"`);
    expect(health.status).toBe(503);
    expect(response.status).toBe(200);
    expect(await response.text()).toMatch(/^\[Output\] \S+<br>$/);
    expect(await server.ended).toEqual([0, null]);
    expect(await readdir(join(server.directory, 'data/results'))).not.toEqual([]);
  });

  it('ends it after STOP_TIME, and leaves nothing behind', async () => {
    server = await startServer({ settings: { ALLOW_SOURCES: source.host, STOP_TIME: '1' } });
    const lost = server.ask(query()).then(
      ({ status }) => status,
      () => 'disconnected',
    );
    await source.requested();

    server.stop();

    expect(await server.ended).toEqual([0, null]);
    expect(await lost).toBe('disconnected');
    await expect.poll(server.log).toContain('"event":"stopped with conversions in progress","requests":1');
    await expect.poll(() => processesBelow(server.directory)).toEqual([]);
    expect((await readdir(server.directory)).filter((name) => name.startsWith('docmill-'))).toEqual([]);
  });
});
