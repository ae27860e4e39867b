import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import {
  CheckpointDurableExecutionCommand,
  InvokeCommand,
  LambdaClient,
  type OperationUpdate,
  StopDurableExecutionCommand,
} from '@aws-sdk/client-lambda';
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import sharp from 'sharp';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPrefixes } from '../../functions/buckets/prefixes.ts';
import { createDynamoTable } from '../../functions/platform/aws/table.ts';
import { createStores } from '../../functions/platform/stores.ts';
import { parseSettings } from '../../infra/aws/settings.ts';
import { makePdf, numberedPages } from '../fixtures/pdf.ts';
import type { Role } from '../lambda-emulator/deployment.ts';
import { publicAddress } from '../lambda-emulator/network.ts';
import { JOB } from '../readme/tables.ts';
import { useEmulator } from './use-emulator.ts';

/** A source whose response waits for the test. */
const held: ServerResponse[] = [];
const source = createServer((_, response) => void held.push(response));
await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', resolve));
const slowUrl = publicAddress((source.address() as AddressInfo).port);
const release = () => {
  for (const response of held.splice(0)) response.end(makePdf(numberedPages(2)));
};

/** A receiver of webhooks, which responds with these statuses first, and the messages that it got. */
const statuses: number[] = [];
const messages: { readonly headers: Record<string, string>; readonly body: string }[] = [];
const server = createTlsServer(async (request, response) => {
  messages.push({ headers: request.headers as Record<string, string>, body: await text(request) });
  response.writeHead(statuses.shift() ?? 204).end();
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
// The network forwards port 80, whatever is spoken there.
const receiver = new URL(publicAddress((server.address() as AddressInfo).port)).host;
const webhook = `https://${receiver}:80/hook`;
const certificate = execFileSync(
  'openssl',
  [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'],
    ...['-subj', '/CN=receiver', '-addext', `subjectAltName=IP:${receiver}`, '-keyout', '-', '-out', '-'],
  ],
  { encoding: 'utf8', stdio: 'pipe' },
);
server.setSecureContext({ key: certificate, cert: certificate });
// The function trusts the receiver's certificate, as it would any other one. Nothing else is relaxed.
const [trusted] = /-----BEGIN CERTIFICATE-----.+-----END CERTIFICATE-----/s.exec(certificate)!;
const trust = `import tls from 'node:tls'; tls.setDefaultCACertificates([${JSON.stringify(trusted)}]);`;
const NODE_OPTIONS = `--import data:text/javascript;base64,${Buffer.from(trust).toString('base64')}`;

const used = useEmulator({
  settings: parseSettings({
    reserved: { html2pdf: 1 },
    buckets: { read: ['s3://files/in/'], write: ['s3://files/out/'] },
    work: ['factory', 'stranger'].map((account) => ({
      bucket: 'files',
      prefix: `in/${account}/`,
      account,
      query: 'app=imageproc&-resize=20x20',
      outfile: '{name}.jpg',
      to: 's3://files/out/',
    })),
  }),
  variables: { jobs: { NODE_OPTIONS } },
});
afterAll(() => {
  for (const each of [source, server]) {
    each.closeAllConnections();
    each.close();
  }
});
beforeEach(() => {
  messages.length = 0;
  used().emulator.durable.crash = () => undefined;
});

interface Described {
  readonly id: string;
  readonly status: string;
  readonly outputs?: ReadonlyArray<{ readonly url: string }>;
}

/** Sends a request about jobs and returns its status and JSON. */
async function send(path: string, { method = 'GET', key = used().emulator.apiKey, headers = {} } = {}) {
  const response = await fetch(`${used().emulator.base}${path}`, {
    method,
    headers: { 'X-Api-Key': key, Accept: 'application/json', ...headers },
  });
  const body = await response.text();
  if (!body.startsWith('{')) throw new Error(`${method} ${path}: ${response.status} ${body}`);
  return { code: response.status, job: JSON.parse(body) as Described };
}

async function start(query: Readonly<Record<string, string>>, options = {}): Promise<Described> {
  const path = `/api/?${new URLSearchParams({ _async: '1', ...query })}`;
  const { code, job } = await send(path, options);
  expect(code, JSON.stringify(job)).toBe(202);
  return job;
}

/** Waits until a job has a final status. */
async function finish({ id }: Described): Promise<Described> {
  for (;;) {
    const { job } = await send(`/api/jobs/${id}?wait=30`);
    if (!['queued', 'running'].includes(job.status)) return job;
  }
}

const picture = (name: string) => ({
  app: 'imageproc',
  infile: used().urlOf(`${name}/a.png`),
  outfile: 'a.jpg',
});
const slow = (name: string) => ({ app: 'pdftools', infile: `${slowUrl}/${name}.pdf`, outfile: 'a.png' });
const pool = (name: string) => used().emulator.functions.get(name)!;
const executionOf = ({ id }: Described) =>
  [...used().emulator.durable.executions.values()].find(({ arn }) => arn.includes(`/${id}/`))!;
const whenOver = (job: Described) => expect.poll(() => executionOf(job).status).not.toBe('RUNNING');
const stores = () =>
  createStores(createDynamoTable({ client: used().emulator.table.client, table: 'keys' }), []);
const account = async () => (await stores().keys.find(used().emulator.apiKey))!.account;

/** Milliseconds of a function's events in its log, after a number of characters. */
function billed(name: string, from = 0): number {
  const log = used().emulator.logs.get(name) ?? '';
  return [...log.slice(from).matchAll(/Billed Duration: (\d+) ms/g)].reduce(
    (sum, [, ms]) => sum + Number(ms),
    0,
  );
}

describe('a job', () => {
  it('is suspended while the tool works, and has a result', async () => {
    const [jobsLog, toolLog] = ['jobs', 'pdftools'].map((name) => used().emulator.logs.get(name)?.length);

    const accepted = await start(slow('book'));
    await expect.poll(() => held.length).toBe(1);
    await expect.poll(() => pool('jobs').running).toBe(0);
    const during = await send(`/api/jobs/${accepted.id}`);
    await setTimeout(3000);
    release();
    const job = await finish(accepted);
    await whenOver(job);

    const result = await fetch(job.outputs![0]!.url);
    expect(during.job.status).toBe('running');
    expect(job.status, JSON.stringify(job)).toBe('done');
    expect(await sharp(Buffer.from(await result.arrayBuffer())).metadata()).toMatchObject({ format: 'png' });
    const { status, invocations } = executionOf(job);
    expect([status, pool('pdftools').events]).toEqual(['SUCCEEDED', 1]);
    expect(invocations).toBeGreaterThan(1);
    process.stdout.write(
      `jobs: ${billed('jobs', jobsLog)} ms billed in ${invocations} events, pdftools: ${billed('pdftools', toolLog)} ms\n`,
    );
  });

  it('delivers its webhook, signed, until the receiver accepts it', async () => {
    statuses.push(503);

    const job = await finish(await start({ ...picture('webhook'), _webhook: webhook }));
    await whenOver(job);

    const [secret] = await stores().webhookSecrets.get(await account());
    expect(messages).toHaveLength(2);
    for (const { headers, body } of messages)
      expect(new Webhook(secret!).verify(body, headers)).toMatchObject({
        type: 'job.done',
        data: { id: job.id, status: 'done' },
      });
    expect(new Set(messages.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect((await send(`/api/jobs/${job.id}`)).job).toMatchObject({ webhook: { state: 'delivered' } });
  });

  it('uses what its price in the guide is made of', async () => {
    const counted = async (query: Readonly<Record<string, string>>) => {
      const before = used().emulator.calls.length;
      const job = await start(query);
      await whenOver(job);
      const calls = used().emulator.calls.slice(before);
      const count = (action: string) => calls.filter((call) => call.startsWith(action)).length;
      return {
        operations: executionOf(job).operations.size,
        writes: count('dynamodb:UpdateItem'),
        reads: count('dynamodb:GetItem'),
      };
    };
    const plain = await counted(picture('plain'));
    const told = await counted({ ...picture('told'), _webhook: webhook });

    expect(plain).toEqual(JOB.plain);
    expect(told).toEqual({
      operations: plain.operations + JOB.webhook.operations,
      writes: plain.writes + JOB.webhook.writes,
      reads: plain.reads + JOB.webhook.reads,
    });
  });

  it('starts once for an idempotency key, and so does an execution for its name', async () => {
    const { emulator } = used();
    const header = { headers: { 'Idempotency-Key': 'night-1' } };
    const before = emulator.durable.executions.size;

    const first = await start(picture('once'), header);
    const again = await start(picture('once'), header);
    const { functionArn, payload, arn } = executionOf(first);
    const { DurableExecutionArn } = await lambdaAs('router').send(
      new InvokeCommand({
        FunctionName: functionArn,
        InvocationType: 'Event',
        DurableExecutionName: first.id,
        Payload: payload,
      }),
    );

    expect(again.id).toBe(first.id);
    expect(DurableExecutionArn).toBe(arn);
    expect(emulator.durable.executions.size).toBe(before + 1);
    expect((await finish(first)).status).toBe('done');
  });

  it('waits while its tool is throttled', async () => {
    const page = { app: 'html2pdf', outfile: 'a.pdf' };
    const first = await start({ ...page, infile: `${slowUrl}/page.html` });
    await expect.poll(() => held.length).toBe(1);

    const second = await start({ ...page, infile: used().urlOf('throttled/a.html') });
    const isInvoked = () => [...executionOf(second).operations.values()].some(({ Name }) => Name === 'pause');
    await expect.poll(isInvoked).toBe(true);
    for (const response of held.splice(0)) response.end('<p>slow');

    expect([await finish(first), await finish(second)]).toMatchObject([
      { status: 'done' },
      { status: 'done' },
    ]);
  });

  it('has no effect once it is canceled, and counts until its tool ends', async () => {
    const running = async () => {
      const item = await used().emulator.table.client.send(
        new GetItemCommand({ TableName: 'keys', Key: { id: { S: `limits#${await account()}` } } }),
      );
      return Number(item.Item!.running!.N);
    };
    const before = await running();
    const accepted = await start({ ...slow('canceled'), _webhook: webhook });
    await expect.poll(() => held.length).toBe(1);

    const { job } = await send(`/api/jobs/${accepted.id}`, { method: 'DELETE' });
    const during = await running();
    release();
    await whenOver(accepted);

    expect([job.status, (await finish(accepted)).status]).toEqual(['canceled', 'canceled']);
    expect([during, await running()]).toEqual([before + 1, before]);
    expect(messages).toEqual([]);
  });

  it('is not found by another account', async () => {
    const key = await used().newKey();
    const job = await finish(await start(picture('foreign')));

    const responses = [
      await send(`/api/jobs/${job.id}`, { key }),
      await send(`/api/jobs/${job.id}`, { key, method: 'DELETE' }),
      await send(`/api/jobs/${job.id}/webhook`, { key, method: 'POST' }),
    ];

    expect(responses.map(({ code }) => code)).toEqual([404, 404, 404]);
    expect((await send('/api/jobs', { key })).job).toEqual({ jobs: [] });
  });
});

describe('an object that is put into a bucket', () => {
  /** Puts an object and sends the event that EventBridge does, with the fields that S3 documents. Returns the execution. */
  async function put(key: string, body: Buffer, again?: string) {
    const { emulator } = used();
    const { ETag } = await emulator.storage.client.send(
      new PutObjectCommand({ Bucket: 'files', Key: key, Body: body }),
    );
    const event = {
      ...{ version: '0', id: randomUUID(), source: 'aws.s3', 'detail-type': 'Object Created', again },
      ...{ account: '123456789012', time: '2026-11-29T09:00:00Z', region: 'us-east-1' },
      resources: ['arn:aws:s3:::files'],
      detail: {
        ...{ version: '0', bucket: { name: 'files' }, reason: 'PutObject', requester: '123456789012' },
        object: { key, size: body.length, etag: ETag!.replaceAll('"', ''), sequencer: '00646F29A8B8D5B2F3' },
      },
    };
    const credentials = { accessKeyId: 'events', secretAccessKey: 'secret' };
    const lambda = new LambdaClient({ endpoint: emulator.lambda, region: 'us-east-1', credentials });
    const { DurableExecutionArn } = await lambda.send(
      new InvokeCommand({
        FunctionName: 'arn:aws:lambda:us-east-1:123456789012:function:jobs:live',
        InvocationType: 'Event',
        Payload: JSON.stringify(event),
      }),
    );
    const execution = emulator.durable.executions.get(DurableExecutionArn!)!;
    await expect.poll(() => execution.status).not.toBe('RUNNING');
    return execution;
  }
  const image = () =>
    sharp({ create: { width: 40, height: 40, channels: 3, background: 'red' } })
      .png()
      .toBuffer();

  beforeAll(async () => {
    const { client } = used().emulator.storage;
    await client.send(new CreateBucketCommand({ Bucket: 'files' }));
    const prefixes = createPrefixes(
      createDynamoTable({ client: used().emulator.table.client, table: 'keys' }),
    );
    await prefixes.set('factory', 's3://files/in/', 'read');
    await prefixes.set('factory', 's3://files/out/', 'write');
  });

  it('becomes a converted object, once', async () => {
    const events = pool('imageproc').events;

    const first = await put('in/factory/red + blue.png', await image());
    const repeated = await put('in/factory/red + blue.png', await image());
    const again = await put('in/factory/red + blue.png', await image(), 'again');

    expect([first, repeated, again].map(({ status, error }) => [status, error])).toEqual([
      ['SUCCEEDED', undefined],
      ['SUCCEEDED', undefined],
      ['SUCCEEDED', undefined],
    ]);
    const { Body } = await used().emulator.storage.client.send(
      new GetObjectCommand({ Bucket: 'files', Key: 'out/red _ blue.jpg' }),
    );
    expect(await sharp(await Body!.transformToByteArray()).metadata()).toMatchObject({
      format: 'jpeg',
      width: 20,
    });
    expect(pool('imageproc').events - events).toBe(2);
  });

  it('fails with the reason if it cannot be converted, or its account may not use the bucket', async () => {
    const damaged = await put('in/factory/damaged.png', (await image()).subarray(0, 60));
    const foreign = await put('in/stranger/a.png', await image());

    expect([damaged.status, damaged.error]).toEqual(['FAILED', expect.stringMatching(/CORRUPT_SOURCE\)$/)]);
    expect([foreign.status, foreign.error]).toEqual(['FAILED', expect.stringMatching(/BLOCKED_ADDRESS\)$/)]);
  });
});

function configOf(role: Role, service: 'dynamodb' | 'lambda') {
  const credentials = { accessKeyId: 'function', secretAccessKey: 'secret' };
  return {
    endpoint: used().emulator.endpointOf(role, service),
    region: 'us-east-1',
    credentials,
    maxAttempts: 1,
  };
}

function lambdaAs(role: Role): LambdaClient {
  return new LambdaClient(configOf(role, 'lambda'));
}

describe('the role of the function', () => {
  it('allows what the jobs above needed, and no more', async () => {
    expect(used().emulator.denied).toEqual([]);
    const [{ arn, token } = { arn: '', token: '' }] = used().emulator.durable.executions.values();
    const table = new DynamoDBClient(configOf('jobs', 'dynamodb'));
    const key = (id: string) => ({ TableName: 'keys', Key: { id: { S: id } } });
    const invoke = (name: string) =>
      new InvokeCommand({
        FunctionName: `arn:aws:lambda:us-east-1:123456789012:function:${name}:1`,
        Payload: '{}',
      });

    const names = await Promise.all(
      [
        lambdaAs('router').send(
          new CheckpointDurableExecutionCommand({ DurableExecutionArn: arn, CheckpointToken: token }),
        ),
        lambdaAs('router').send(new StopDurableExecutionCommand({ DurableExecutionArn: arn })),
        lambdaAs('jobs').send(invoke('jobs')),
        lambdaAs('jobs').send(invoke('site')),
        table.send(new GetItemCommand(key('session#1'))),
        table.send(
          new UpdateItemCommand({
            ...key('account#1'),
            UpdateExpression: 'SET #a = :a',
            ExpressionAttributeNames: { '#a': 'disabled' },
            ExpressionAttributeValues: { ':a': { BOOL: false } },
          }),
        ),
      ].map((sent: Promise<unknown>) =>
        sent.then(
          () => 'allowed',
          ({ name }: Error) => name,
        ),
      ),
    );

    expect(names).toEqual(names.map(() => 'AccessDeniedException'));
    expect(used().emulator.denied).toHaveLength(names.length);
  });
});

describe('a job whose function is killed', () => {
  it('ends once, whichever operation is being recorded, and wherever the function is then', async () => {
    const complete = await finish(await start({ ...picture('complete'), _webhook: webhook }));
    await whenOver(complete);
    const [, ...operations] = [...executionOf(complete).operations.values()];
    const moments = operations.flatMap(({ Name = '', Type }) =>
      (Type === 'CHAINED_INVOKE' ? ['START'] : ['START', 'SUCCEED']).flatMap((action) =>
        (['lost', 'recorded'] as const).map((crash) => ({ name: Name, action, crash })),
      ),
    );
    expect(moments.length).toBeGreaterThan(30);

    const outcomes: unknown[] = [];
    for (const [index, { name, action, crash }] of moments.entries()) {
      let crashes = 0;
      used().emulator.durable.crash = ({ Name, Action }: OperationUpdate) => {
        if (Name !== name || Action !== action || crashes > 0) return undefined;
        crashes += 1;
        return crash;
      };
      messages.length = 0;
      const events = pool('imageproc').events;
      // A call whose end was lost counts for some minutes.
      const key = await used().newKey();
      const accepted = await start({ ...picture(`crash-${index}`), _webhook: webhook }, { key });
      await whenOver(accepted);
      const { job } = await send(`/api/jobs/${accepted.id}`, { key });
      const ids = new Set(messages.map(({ headers }) => headers['webhook-id']));
      outcomes.push({
        ...{ name, action, crash, crashes, status: job.status, ids: ids.size },
        ...{ execution: executionOf(job).status, conversions: pool('imageproc').events - events },
      });
    }

    expect(outcomes).toEqual(
      moments.map((moment) => ({
        ...moment,
        ...{ crashes: 1, status: 'done', ids: 1, execution: 'SUCCEEDED', conversions: 1 },
      })),
    );
  });
});
