import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startRadosGateway } from '../../aws-servers/radosgw.ts';
import { COMPILE_CACHE } from '../../helpers/processes.ts';
import { type Server, startServer } from '../../infra/local/server.ts';

const ROOT = join(import.meta.dirname, '../../..');
const REPORT = readFileSync(join(ROOT, 'infra/local/self-check/samples/report.pdf'));
const PAGE = '<title>From a bucket</title><h1>Hello</h1>';

let gateway: Awaited<ReturnType<typeof startRadosGateway>>;
let server: Server;
let apiKey: string;
let account: string;

beforeAll(async () => {
  gateway = await startRadosGateway('files');
  const { client } = gateway;
  await client.send(new CreateBucketCommand({ Bucket: 'foreign' }));
  const put = (Bucket: string, Key: string, Body: Buffer | string) =>
    client.send(new PutObjectCommand({ Bucket, Key, Body }));
  await put('files', 'in/a b+ü.pdf', REPORT);
  await put('files', 'in/page.html', PAGE);
  await put('foreign', 'in/a.pdf', REPORT);
  const { accessKeyId, secretAccessKey } = gateway.credentials;
  server = await startServer({
    settings: {
      AWS_ENDPOINT_URL_S3: gateway.endpoint,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
    },
  });
  ({ apiKey, account } = JSON.parse(await keys('create', '--name', 'a', '--json')));
  await keys('buckets', account, 's3://files/in/', 'read');
  await keys('buckets', account, 's3://files/out/', 'both');
});

afterAll(async () => {
  await server.close();
  await gateway.close();
});

async function keys(...args: string[]): Promise<string> {
  const env = { PATH: '/usr/bin:/bin', DATA_DIR: join(server.directory, 'data'), ...COMPILE_CACHE };
  const script = join(ROOT, 'infra/keys/main.ts');
  return (await promisify(execFile)(process.execPath, [script, ...args], { env })).stdout;
}

async function ask(query: Readonly<Record<string, string>>) {
  const response = await server.ask({ apikey: apiKey, ...query });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

async function written(Key: string): Promise<string> {
  const { Body } = await gateway.client.send(new GetObjectCommand({ Bucket: 'files', Key }));
  return Body!.transformToString('latin1');
}

it('converts objects into a bucket, also those that an option names', async () => {
  const source = 's3://files/in/a b+ü.pdf';

  const merged = await ask({
    app: 'pdftools',
    infile: source,
    '-append': source,
    outfile: 'm.pdf',
    _to: 's3://files/out/',
  });
  const again = await ask({
    app: 'auto',
    infile: 's3://files/out/m.pdf',
    outfile: 'p-%d.png',
    _to: 's3://files/out/',
  });

  const pages = Number(again.headers.get('x-page-count'));
  expect(merged.body).toBe('[Output] s3://files/out/m.pdf<br>');
  expect(await written('out/m.pdf')).toMatch(/^%PDF-/);
  expect(pages % 2).toBe(0);
  const names = Array.from({ length: pages }, (_, index) => `s3://files/out/p-${index + 1}.png`);
  expect(again.body).toBe(names.map((each) => `[Output] ${each}<br>`).join(''));
  expect(await written(`out/p-${pages}.png`)).toMatch(/^\x89PNG/);
});

it('opens a page like one that was sent', async () => {
  const { body } = await ask({ app: 'html2pdf', infile: 's3://files/in/page.html', outfile: 'a.pdf' });

  const url = /^\[Output\] (http.*)<br>$/.exec(body)?.[1];
  expect(Buffer.from(await (await fetch(url!)).arrayBuffer()).toString('latin1')).toContain('From a bucket');
});

it('is read and written by a job, which responds with the new URL', async () => {
  const query = {
    app: 'pdftools',
    infile: 's3://files/in/a b+ü.pdf',
    outfile: 'job.png',
    _to: 's3://files/out/',
  };

  const accepted = await ask({ ...query, _async: '1' });
  const refused = await ask({ ...query, _to: 's3://foreign/', _async: '1' });
  const url = `${accepted.headers.get('location')}?wait=60`;
  const waited = async () => (await fetch(url, { headers: { 'x-api-key': apiKey } })).json();
  let job = (await waited()) as { status: string; outputs?: object[] };
  while (job.status === 'queued' || job.status === 'running') job = (await waited()) as typeof job;

  expect([accepted.status, refused.status]).toEqual([202, 403]);
  expect(job).toMatchObject({
    status: 'done',
    outputs: [{ url: 's3://files/out/job.png', name: 'job.png' }],
  });
  expect(job.outputs![0]).not.toHaveProperty('expires');
  expect(await written('out/job.png')).toMatch(/^\x89PNG/);
});

it('leads no caller to its server', async () => {
  const object = new GetObjectCommand({ Bucket: 'files', Key: 'in/a b+ü.pdf' });
  const presigned = await getSignedUrl(gateway.client, object);
  const sources = [presigned, `${gateway.endpoint}/files/in/page.html`, gateway.endpoint];

  const replies = sources.map((infile) => ask({ app: 'pdftools', infile, outfile: 'a.pdf' }));

  for (const { status, body } of await Promise.all(replies))
    expect([status, body]).toEqual([
      403,
      expect.stringMatching(/^\[ERROR\] The (host|port) of the URL .* \(BLOCKED_ADDRESS\)$/),
    ]);
});

it('belongs to one account, and its secret to nobody', async () => {
  const query = { app: 'pdftools', infile: 's3://files/in/a b+ü.pdf', outfile: 'a.pdf' };
  const foreign = await ask({ ...query, infile: 's3://foreign/in/a.pdf' });
  const { apiKey: other } = JSON.parse(await keys('create', '--name', 'b', '--json'));
  const others = await ask({ ...query, apikey: other });
  await keys('buckets', account, 's3://files/in/', 'none');
  const removed = await ask(query);

  expect([foreign, others, removed].map(({ status }) => status)).toEqual([403, 403, 403]);
  expect(await keys('show', account)).toMatch(/^bucket {2}both {2}s3:\/\/files\/out\/$/m);
  expect(await keys('audit')).toMatch(/name bucket +\S+ +s3:\/\/files\/in\/=none +command line/);
  expect(server.log()).not.toContain(gateway.credentials.secretAccessKey);
  expect(server.log()).not.toContain('X-Amz-');
});
