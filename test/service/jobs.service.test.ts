import { execFile } from 'node:child_process';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createApiKey, hashApiKey } from '../../functions/platform/keys.ts';
import { disc } from '../fixtures/image.ts';
import { type OwnService, startOwnService } from '../lab/service.ts';
import { type SourceServer, serveSources } from '../lab/sources.ts';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const KEY = createApiKey();
const ACCOUNT = hashApiKey(KEY).slice(0, 16);
const KEYS = join(import.meta.dirname, '../../infra/keys/main.ts');
const received: Received[] = [];
let sources: SourceServer;
let service: OwnService;

beforeAll(async () => {
  sources = await serveSources({
    'a.png': await disc(64),
    hook: async (request, response) => {
      received.push({ headers: request.headers, body: await text(request) });
      response.end();
    },
  });
  service = await startOwnService({
    environment: { API_KEY: KEY, ALLOW_SOURCES: sources.host },
    detached: true,
  });
});
afterAll(async () => {
  expect(await service.close()).toEqual([]);
  sources.close();
});

it('converts a job, which is waited for and tells its receiver', async () => {
  const query = new URLSearchParams({
    app: 'imageproc',
    infile: sources.urlOf('a.png'),
    outfile: 'b.jpg',
    _async: '1',
    _webhook: sources.urlOf('hook'),
  });
  const headers = { 'x-api-key': KEY };
  const accepted = await fetch(`${service.base}/api/?${query}`, { headers });
  const url = /^\[Job\] (.*)<br>$/.exec(await accepted.text())![1]!;
  let job = { status: 'queued', id: '', outputs: [{ url: '' }] };
  while (['queued', 'running'].includes(job.status))
    job = (await (await fetch(`${url}?wait=30`, { headers })).json()) as typeof job;

  expect(job).toMatchObject({ status: 'done' });
  const result = await fetch(job.outputs[0]!.url);
  await vi.waitFor(() => expect(received).toHaveLength(1), { timeout: 20_000 });
  const secret = await keysCommand('webhook', ACCOUNT);
  const [{ headers: sent, body }] = received as [Received];
  const verified = new Webhook(secret.trim()).verify(body, sent as Record<string, string>);

  expect([accepted.status, accepted.headers.get('location')]).toEqual([202, url]);
  expect(result.headers.get('content-type')).toBe('image/jpeg');
  expect(verified).toMatchObject({ type: 'job.done', data: { id: job.id, status: 'done' } });
  expect(await keysCommand('jobs', ACCOUNT)).toMatch(
    new RegExp(`^${job.id}  imageproc  done .*  delivered \\(1\\)  status 200$`, 'm'),
  );
  expect(await keysCommand('audit')).toContain('read webhook secret');
});

/** Runs a command of the operator. */
async function keysCommand(...args: string[]): Promise<string> {
  const env = { ...process.env, DATA_DIR: join(service.directory, 'data') };
  const { stdout } = await promisify(execFile)(process.execPath, [KEYS, ...args], { env });
  return stdout;
}
