import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createJobs, type Jobs } from '../../../../functions/jobs/store.ts';
import { createDeliveries, type Deliveries } from '../../../../functions/jobs/webhooks/deliveries.ts';
import { createWebhookSecrets, type WebhookSecrets } from '../../../../functions/jobs/webhooks/secrets.ts';
import {
  createSqliteTable,
  type Database,
  openDatabase,
} from '../../../../functions/platform/local/database.ts';
import { createEgressGuard } from '../../../../functions/shared/egress/guard.ts';
import { tiny } from '../../tiny-tool.ts';
import { jobCall } from '../local-service.ts';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let directory: string;
let database: Database;
let jobs: Jobs;
let secrets: WebhookSecrets;
let deliveries: Deliveries;
let server: Server;
let received: Received[];
/** The statuses that the receiver responds with, in turn. The last one is repeated. */
let statuses: number[];
let addresses: string[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'webhooks-'));
  database = openDatabase(join(directory, 'docmill.db'));
  const table = createSqliteTable(database, database.transaction);
  [jobs, secrets] = [createJobs(table), createWebhookSecrets(table)];
  [received, statuses, addresses] = [[], [200], ['127.0.0.1']];
  server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    received.push({ headers: request.headers, body });
    const status = statuses.length > 1 ? statuses.shift()! : statuses[0]!;
    if (status === 302) response.setHeader('location', `http://receiver.example:${port()}/other`);
    if (status === 101) response.setHeader('upgrade', 'other').setHeader('connection', 'upgrade');
    response.writeHead(status);
    response.end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  deliveries = createDeliveries(
    jobs,
    {
      guard: createEgressGuard({
        resolve: async () => addresses,
        exceptions: [`receiver.example:${port()}`],
      }),
      secrets,
      tools: [tiny],
      storageAt: () => ({
        grant: async () => ({}),
        url: async (objectKey) => `https://files.example/${objectKey}`,
        exists: async () => true,
        remove: async () => {},
      }),
      isInsecureAllowed: () => true,
    },
    () => {},
  );
});

afterEach(async () => {
  await deliveries.close();
  server.close();
  database.close();
  await rm(directory, { recursive: true });
});

const port = () => (server.address() as AddressInfo).port;

/** Adds a job that is done, whose webhook is due. */
async function endedJob(url = `http://receiver.example:${port()}/hook?a=b`) {
  const job = await jobs.add(jobCall('a', { job: { webhook: url } }));
  await jobs.start(job);
  return (await jobs.end(job, { status: 'done', result: { ok: true, objectKeys: ['x/a.png'] } }))!;
}

const stateOf = async ({ id }: { readonly id: string }) => (await jobs.get('alice', id))!.delivery;
const settled = { timeout: 4000 };

describe('the webhook of a job', () => {
  it('is verified by the official library, also with the secret before a rotation', async () => {
    const [before] = await secrets.get('alice');
    const after = await secrets.rotate('alice');
    const job = await endedJob();

    deliveries.add(job);

    await vi.waitFor(() => expect(received).toHaveLength(1), settled);
    const [{ headers, body }] = received as [Received];
    for (const secret of [before!, after]) {
      const payload = new Webhook(secret).verify(body, headers as Record<string, string>);
      expect(payload).toMatchObject({
        type: 'job.done',
        data: { id: job.id, status: 'done', outputs: [{ url: 'https://files.example/x/a.png' }] },
      });
    }
    expect(headers['cdn-loop']).toBe('docmill');
    const [other] = await secrets.get('bob');
    expect(() => new Webhook(other!).verify(body, headers as Record<string, string>)).toThrow();
    await vi.waitFor(async () =>
      expect(await stateOf(job)).toMatchObject({ state: 'delivered', attempts: 1 }),
    );
  });

  it('is sent again with the same ID after a failure, later each time', async () => {
    statuses = [500, 200];
    const job = await endedJob();

    deliveries.add(job);

    await vi.waitFor(
      async () => expect(await stateOf(job)).toMatchObject({ attempts: 1, last: 'status 500' }),
      settled,
    );
    const { next = 0, state } = (await stateOf(job))!;
    expect(state).toBe('pending');
    expect(next - Date.now()).toBeGreaterThan(3000);
    expect(next - Date.now()).toBeLessThanOrEqual(5000);

    deliveries.add((await jobs.get('alice', job.id))!, { again: true });

    await vi.waitFor(async () => expect(await stateOf(job)).toMatchObject({ state: 'delivered' }), settled);
    const ids = received.map(({ headers }) => headers['webhook-id']);
    expect(ids).toEqual([ids[0], ids[0]]);
  });

  it.each([
    ['a receiver that is gone', 410, 'failed', 'status 410'],
    ['a redirect, which is not followed', 302, 'pending', 'status 302'],
    ['a receiver that changes the protocol', 101, 'pending', 'the connection failed'],
  ])('to %s', async (_, status, state, last) => {
    statuses = [status];
    const job = await endedJob();

    deliveries.add(job);

    await vi.waitFor(
      async () => expect(await stateOf(job)).toMatchObject({ state, last, attempts: 1 }),
      settled,
    );
    expect(received).toHaveLength(1);
  });

  it('reaches no private network, even if the host was public when the job was accepted', async () => {
    addresses = ['93.184.216.34'];
    const url = `http://rebound.example:80/hook`;
    const job = await endedJob(url);
    await deliveries.check(url, 'alice', new AbortController().signal);
    addresses = ['127.0.0.1'];

    deliveries.add(job);

    await vi.waitFor(
      async () => expect(await stateOf(job)).toMatchObject({ attempts: 1, state: 'pending' }),
      settled,
    );
    expect((await stateOf(job))?.last).toMatch(/not found on the public internet/);
    expect(received).toEqual([]);
  });
});
