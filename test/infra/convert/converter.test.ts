import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { outputsIn, remoteService } from '../../../infra/convert/converter.ts';

let server: Server;
afterEach(() => server.close());

const OUTPUTS = [{ url: 'https://files.example/a.pdf', name: 'a.pdf' }];
const QUERY = [{ name: 'app', value: 'doc2any' }];

/** Sends a request with a name to a service that responds to the path and query of each request, in turn. */
async function send(replies: ReadonlyArray<readonly [status: number, body: object]>) {
  const asked: string[] = [];
  const names: unknown[] = [];
  server = createServer((request, response) => {
    const [status, body] = replies[asked.length]!;
    asked.push(request.url!);
    names.push(request.headers['idempotency-key']);
    response.writeHead(status).end(JSON.stringify(body));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const service = remoteService(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'key');
  const request = { query: QUERY, headers: {}, name: 'n1' };
  const reply = await service.send(request, new AbortController().signal);
  return { asked, names, read: () => outputsIn(reply) };
}

describe('a request with a name', () => {
  it('becomes a job, which is waited for', async () => {
    const job = { id: 'job_1', status: 'queued' };
    const { asked, names, read } = await send([
      [202, job],
      [200, { ...job, status: 'running' }],
      [200, { ...job, status: 'done', outputs: OUTPUTS }],
    ]);

    expect(read().outputs).toEqual(OUTPUTS);
    expect(asked).toEqual([
      '/api/?app=doc2any&_async=1',
      '/api/jobs/job_1?wait=25',
      '/api/jobs/job_1?wait=25',
    ]);
    expect(names[0]).toBe('n1');
  });

  it.each([
    ['failed', { error: { code: 'CORRUPT_SOURCE', detail: 'It is damaged.' } }, 'It is damaged.'],
    ['canceled', {}, 'The job was canceled.'],
  ])('fails like a job that was %s', async (status, more, message) => {
    const { read } = await send([[202, { id: 'job_1', status, ...more }]]);

    expect(read).toThrow(message);
  });

  it('is sent again without a job to a service that has none', async () => {
    const refusal = { code: 'BAD_PARAMETER', detail: "This service does not run jobs. Leave out '_async'." };
    const { asked, read } = await send([
      [400, refusal],
      [200, { outputs: OUTPUTS }],
    ]);

    expect(read().outputs).toEqual(OUTPUTS);
    expect(asked[1]).toBe('/api/?app=doc2any');
  });
});
