import { randomBytes } from 'node:crypto';
import { copyFile, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutBucketPolicyCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Buckets } from '../../../functions/buckets/buckets.ts';
import { createPrefixes } from '../../../functions/buckets/prefixes.ts';
import { createAwsClient, createLocalClient } from '../../../functions/buckets/s3.ts';
import { createHandler } from '../../../functions/conversion/handler.ts';
import { createS3Put } from '../../../functions/platform/aws/post-form.ts';
import { createS3Storage, createS3Uploads } from '../../../functions/platform/aws/s3.ts';
import { createIdempotency } from '../../../functions/platform/idempotency.ts';
import type { Invocation } from '../../../functions/platform/invoke.ts';
import { createDiskStorage } from '../../../functions/platform/local/disk-storage.ts';
import { signQuery } from '../../../functions/router/admission/authenticate.ts';
import type { Dependencies } from '../../../functions/router/dependencies.ts';
import { createCoalescer } from '../../../functions/router/reuse.ts';
import { route } from '../../../functions/router/route.ts';
import { createEgressGuard } from '../../../functions/shared/egress/guard.ts';
import { sourceUrl } from '../../../functions/shared/options/option.ts';
import { createDownload } from '../../../functions/shared/source/download.ts';
import { CONVERSION_LIMITS, type Download, type Tool } from '../../../functions/shared/tool.ts';
import { readSignedUrl } from '../../../infra/local/server/http/signed-url.ts';
import { startRadosGateway } from '../../aws-servers/radosgw.ts';
import { openTable } from '../../helpers/open-table.ts';
import { recordOf, unlimited } from '../accounts.ts';
import { headerOf } from '../router/header.ts';
import { createTinyEngine, PNG, tiny } from '../tiny-tool.ts';

const tool = {
  ...tiny,
  options: { ...tiny.options, logo: sourceUrl('-logo', { description: 'logo' }) },
} as const satisfies Tool;
/** Names of objects that clients are likely to spell wrongly. */
const NAMES = ['a.png', 'a b+c %2b.png', 'größe/日本語 🙂.png', 'a?b=c&d#e.png', "it's (1) [2]!*.png"];
const LARGE = Buffer.concat([PNG, randomBytes(40_000_000)]);
const ACCOUNTS: Readonly<Record<string, string>> = { KEY: 'owner', OTHER: 'other' };

let gateway: Awaited<ReturnType<typeof startRadosGateway>>;
let directory: string;

beforeAll(async () => {
  gateway = await startRadosGateway('results');
  directory = await mkdtemp(join(tmpdir(), 'buckets-'));
  const { client } = gateway;
  for (const Bucket of ['files', 'foreign', 'locked']) {
    await client.send(new CreateBucketCommand({ Bucket }));
    for (const name of NAMES)
      for (const folder of ['in', 'inner', 'out'])
        await client.send(new PutObjectCommand({ Bucket, Key: `${folder}/${name}`, Body: PNG }));
  }
  await client.send(new PutObjectCommand({ Bucket: 'files', Key: 'in/large.png', Body: LARGE }));
  await client.send(new PutObjectCommand({ Bucket: 'files', Key: 'in/empty.png', Body: Buffer.alloc(0) }));
  const statement = {
    Effect: 'Deny',
    Principal: '*',
    Action: ['s3:GetObject', 's3:PutObject'],
    Resource: '*',
  };
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
  await client.send(new PutBucketPolicyCommand({ Bucket: 'locked', Policy }));
});

afterAll(async () => {
  await gateway.close();
  await rm(directory, { recursive: true, force: true });
});

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Returns the parts that differ between the platforms. */
async function platformOf(name: string, credentials = gateway.credentials) {
  const own = await mkdtemp(join(directory, 'platform-'));
  const table = openTable(own);
  const prefixes = createPrefixes(table);
  await prefixes.set('owner', 's3://files/in/', 'read');
  await prefixes.set('owner', 's3://files/out/', 'write');
  for (const bucket of ['locked', 'nowhere']) await prefixes.set('owner', `s3://${bucket}/`, 'both');
  await prefixes.set('other', 's3://foreign/', 'both');
  const download = createDownload(createEgressGuard({ exceptions: [new URL(gateway.endpoint).host] }));
  if (name === 'AWS') {
    const client = new S3Client({ ...gateway.config, credentials });
    const { bucket } = gateway;
    return {
      storage: createS3Storage({ client: gateway.client, bucket, urlLifetime: 60 }),
      uploads: createS3Uploads({ client: gateway.client, bucket }),
      buckets: { prefixes, client: async () => createAwsClient(client, bucket) } satisfies Buckets,
      put: createS3Put(`${gateway.endpoint}/${bucket}`),
      download,
    };
  }
  const disk = createDiskStorage({ directory: own, secret: randomBytes(32), urlLifetime: 60, table });
  await disk.load();
  const pathOf = async (url: string) => {
    const found = await disk.open(readSignedUrl(new URL(url))!);
    return found.status === 200 ? found.path : '';
  };
  const variables = {
    AWS_ENDPOINT_URL_S3: gateway.endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  };
  for (const [variable, value] of Object.entries(variables)) vi.stubEnv(variable, value);
  const ownDownload: Download = async (url, options) => {
    const from = await pathOf(url);
    const path = join(options.directory, 'source');
    await copyFile(from, path);
    return { path, name: 'a.png', contentType: '', bytes: (await stat(path)).size };
  };
  return {
    storage: disk.at('http://localhost/files'),
    uploads: disk.uploadsAt('http://localhost/api/uploads'),
    buckets: { prefixes, client: async () => createLocalClient(pathOf) } satisfies Buckets,
    put: disk.put,
    download: ownDownload,
  };
}

async function startRouter(name: string, credentials?: typeof gateway.credentials) {
  const { put, download, ...platform } = await platformOf(name, credentials);
  const seen: Invocation[] = [];
  const logged: unknown[] = [];
  const handle = createHandler(tool, createTinyEngine(), {
    put,
    download,
    temporary: directory,
    log: () => {},
  });
  const dependencies: Dependencies = {
    ...unlimited,
    ...platform,
    tools: [tool],
    keys: {
      find: async (apiKey) => (ACCOUNTS[apiKey] ? recordOf(ACCOUNTS[apiKey]) : undefined),
      findSigner: async () => ({ secret: 's', record: recordOf('owner', { kind: 'signing' }) }),
    },
    demo: { perAddress: 10, perHour: 10 },
    invoke: async (invocation, signal) => {
      seen.push(invocation);
      return handle(invocation, signal);
    },
    coalesce: createCoalescer(),
    limits: CONVERSION_LIMITS,
    contact: { accountUrl: 'https://a.example/', supportUrl: 'https://s.example/' },
    log: (...line) => logged.push(line),
  };
  const send = async (pairs: Readonly<Record<string, string>>, headers = {}) => {
    const query = Object.entries({ app: 'tiny', outfile: 'b.png', ...pairs }).map(([name, value]) => ({
      name,
      value,
    }));
    const header = headerOf({ 'x-api-key': 'KEY', ...headers });
    const http = { method: 'GET', path: '/api/', query, header, ip: '192.0.2.1' };
    const { status, body, headers: sent } = await route(http, dependencies, new AbortController().signal);
    return { status, code: sent['X-Error-Code'], body: String(body) };
  };
  return { send, seen, logged, dependencies };
}

async function objectIn(Bucket: string, Key: string): Promise<Buffer | undefined> {
  const found = await gateway.client.send(new GetObjectCommand({ Bucket, Key })).catch(() => undefined);
  return found && Buffer.from(await found.Body!.transformToByteArray());
}

async function keysIn(Bucket: string, Prefix = ''): Promise<string[]> {
  const { Contents = [] } = await gateway.client.send(new ListObjectsV2Command({ Bucket, Prefix }));
  return Contents.map(({ Key }) => Key!);
}

describe.each(['one machine', 'AWS'])('a bucket on %s', (name) => {
  it.each(NAMES)('is read and written by the key of an object as it is: %s', async (key) => {
    const { send, seen } = await startRouter(name);
    const folder = `${randomBytes(4).toString('hex')} +ü%41`;

    const reply = await send({
      infile: `s3://files/in/${key}`,
      '-logo': `s3://files/in/${key}`,
      _to: `s3://files/out/${folder}/`,
    });

    expect(reply).toEqual({
      status: 200,
      body: `[Output] s3://files/out/${folder}/b.png<br>`,
      code: undefined,
    });
    expect(await objectIn('files', `out/${folder}/b.png`)).toEqual(PNG);
    // An object that is named twice is opened once.
    expect(seen[0]!.options.logo).toBe(seen[0]!.source);
    expect(JSON.stringify(seen)).not.toContain(gateway.credentials.secretAccessKey);
  });

  it('gets an object per page, none of which stays with the service', async () => {
    const { send, seen, dependencies } = await startRouter(name);
    const to = `s3://files/out/${randomBytes(4).toString('hex')}/`;

    const query = { infile: 's3://files/in/a.png', outfile: 'p-%02d.png', '-copies': '12', _to: to };
    const reply = await send(query, { accept: 'application/json' });

    const { outputs } = JSON.parse(reply.body);
    const names = Array.from({ length: 12 }, (_, page) => `p-${String(page + 1).padStart(2, '0')}.png`);
    expect(outputs).toEqual(
      names.map((each, index) => ({
        url: to + each,
        name: each,
        contentType: 'image/png',
        bytes: PNG.length,
        page: index + 1,
      })),
    );
    expect(await keysIn('files', to.slice('s3://files/'.length))).toHaveLength(12);
    const stored = names.map((each) => dependencies.storage.exists(`${seen[0]!.grant.prefix}${each}`));
    expect(await Promise.all(stored)).toEqual(names.map(() => false));
    expect(await keysIn('results', 'uploads/')).toEqual([]);
  });

  it('can hold a source of 40 MB, whose result is as large', async () => {
    const { send } = await startRouter(name);

    const { status } = await send({
      infile: 's3://files/in/large.png',
      outfile: `${name}.png`,
      _to: 's3://files/out/',
    });

    expect(status).toBe(200);
    expect((await objectIn('files', `out/${name}.png`))!.equals(LARGE)).toBe(true);
  });

  it.each([
    [
      { infile: 's3://files/in/none.png' },
      424,
      'SOURCE_STATUS',
      "The bucket 'files' refused the read: NoSuchKey.",
    ],
    [
      { infile: 's3://nowhere/a.png' },
      424,
      'SOURCE_STATUS',
      "The bucket 'nowhere' refused the read: NoSuchBucket.",
    ],
    [
      { infile: 's3://locked/in/a.png' },
      424,
      'SOURCE_STATUS',
      "The bucket 'locked' refused the read: AccessDenied.",
    ],
    [{ infile: 's3://files/in/empty.png' }, 422, 'CORRUPT_SOURCE', 'The source is empty.'],
    [
      { infile: 's3://files/in/a.png', _to: 's3://locked/out/' },
      424,
      'TARGET_FAILED',
      "The bucket 'locked' refused the write: AccessDenied.",
    ],
  ])('says why it failed: %j', async (query, status, code, message) => {
    const { send } = await startRouter(name);

    expect(await send(query)).toEqual({ status, code, body: `[ERROR] ${message} (${code})` });
    expect(await keysIn('results', 'once/')).toEqual([]);
  });

  it('refuses wrong credentials, which are in no reply, log or invocation', async () => {
    const credentials = { ...gateway.credentials, secretAccessKey: 'another-secret' };
    const { send, seen, logged } = await startRouter(name, credentials);

    const read = await send({ infile: 's3://files/in/a.png' });
    const written = await send({
      infile: `data:image/png;base64,${PNG.toString('base64')}`,
      _to: 's3://files/out/',
    });

    expect([read.code, written.code]).toEqual(['SOURCE_STATUS', 'TARGET_FAILED']);
    expect(read.body).toContain("The bucket 'files' refused the read: SignatureDoesNotMatch.");
    expect(JSON.stringify([read, written, logged])).not.toMatch(/another-secret|TESTACCESSKEY|X-Amz-/);
    expect(JSON.stringify(seen)).not.toContain('another-secret');
    expect(JSON.stringify(logged)).toContain('SignatureDoesNotMatch');
  });

  it('may be used only as the operator allows, in the same way for all that may not be', async () => {
    const { send, seen } = await startRouter(name);
    const refused = [
      { infile: 's3://files/inner/a.png' },
      { infile: 's3://files/out/a.png' },
      { infile: 's3://foreign/in/a.png' },
      { infile: 's3://absent/in/a.png' },
      { infile: 's3://files/in/a.png', '-logo': 's3://foreign/in/a.png' },
      { infile: 's3://files/in/a.png', _args: '-logo s3://files/inner/a.png' },
      { infile: 's3://files/in/a.png', _to: 's3://files/in/' },
      { infile: 's3://files/in/a.png', _to: 's3://files/outer/' },
      { infile: 's3://files/in/a.png', _to: 's3://foreign/' },
    ];

    const replies = await Promise.all(refused.map((query) => send(query)));
    const other = await send({ infile: 's3://files/in/a.png' }, { 'x-api-key': 'OTHER' });

    expect([...replies, other].map(({ status, code }) => [status, code])).toEqual(
      [...refused, other].map(() => [403, 'BLOCKED_ADDRESS']),
    );
    expect(replies[2]!.body.replace('foreign', 'absent')).toBe(replies[3]!.body);
    expect(seen).toEqual([]);
  });

  it('is not used by a request that was accepted before the operator removed it', async () => {
    const { send, dependencies } = await startRouter(name);
    const { buckets, invoke } = dependencies;
    const prefixes = buckets!.prefixes as ReturnType<typeof createPrefixes>;
    const removing = {
      ...dependencies,
      invoke: (async (...call) => {
        await prefixes.set('owner', 's3://files/out/', undefined);
        return invoke(...call);
      }) satisfies typeof invoke,
    };
    Object.assign(dependencies, removing);

    const { code } = await send({
      infile: 's3://files/in/a.png',
      outfile: 'late.png',
      _to: 's3://files/out/',
    });

    expect(code).toBe('BLOCKED_ADDRESS');
    expect(await objectIn('files', 'out/late.png')).toBeUndefined();
  });

  it('gets the result again if a request is repeated', async () => {
    const { send, seen, dependencies } = await startRouter(name);
    const table = openTable(await mkdtemp(join(directory, 'repeated-')));
    Object.assign(dependencies, { idempotency: createIdempotency(table) });
    const query = { infile: 's3://files/in/a.png', outfile: 'again.png', _to: 's3://files/out/' };

    const replies = [
      await send(query, { 'idempotency-key': 'one' }),
      await send(query, { 'idempotency-key': 'one' }),
      await send({ ...query, _to: 's3://files/out/other/' }, { 'idempotency-key': 'one' }),
    ];

    expect(replies.map(({ status, code }) => code ?? status)).toEqual([200, 200, 'IDEMPOTENCY_KEY_REUSED']);
    expect(seen).toHaveLength(2);
  });

  it('is used neither by a signed link nor in demo mode', async () => {
    const { send, seen } = await startRouter(name);
    const pairs = { app: 'tiny', outfile: 'b.png', infile: 's3://files/in/a.png' };
    const query = Object.entries(pairs).map(([each, value]) => ({ name: each, value }));
    const expires = Math.ceil(Date.now() / 1000) + 60;
    const signed = signQuery(query, { id: `key_${'A'.repeat(10)}`, secret: 's', expires });

    const link = await send(Object.fromEntries(new URLSearchParams(signed)), { 'x-api-key': '' });
    const demo = await send({ ...pairs, app: 'tiny', _to: 's3://files/out/' }, { 'x-api-key': 'NONE' });

    expect(link).toMatchObject({ status: 403, code: 'BLOCKED_ADDRESS' });
    expect(demo.body).toMatch(/^\[ERROR\] Please provide a valid APIKEY\.(?!.*Demo result)/s);
    expect(seen).toEqual([]);
  });

  it('reports every mistake at once', async () => {
    const { send } = await startRouter(name);

    const reply = await send(
      {
        infile: 's3://files/in/../a.png',
        '-copies': 'x',
        '-logo': 's3://foreign/a.png',
        _to: 's3://files/out',
        _cache: '60',
      },
      { accept: 'application/json' },
    );

    const { errors } = JSON.parse(reply.body) as { errors: { parameter: string; code: string }[] };
    expect(errors.map(({ parameter, code }) => [parameter, code])).toEqual([
      ['infile', 'BAD_PARAMETER'],
      ['_to', 'BAD_PARAMETER'],
      ['-copies', 'BAD_PARAMETER'],
      ['-logo', 'BLOCKED_ADDRESS'],
      ['_cache', 'BAD_PARAMETER'],
    ]);
  });

  it.each(['file', 'redirect'])('leaves no result for _response=%s', async (_response) => {
    const { send } = await startRouter(name);

    const reply = await send({ infile: 'https://a.example/', _to: 's3://files/out/', _response });

    expect(reply).toMatchObject({ status: 400, code: 'BAD_PARAMETER' });
    expect(reply.body).toContain(
      `Parameter '_to' moves the result, so '_response=${_response}' cannot return it.`,
    );
  });

  it('leaves no result for _cache, with which sources cannot be in one either', async () => {
    const { send } = await startRouter(name);
    const page = 'https://a.example/';
    const queries = [
      { infile: page, _to: 's3://files/out/' },
      { infile: 's3://files/in/a.png' },
      { infile: page, '-logo': 's3://files/in/a.png' },
    ];

    const replies = await Promise.all(queries.map((query) => send({ ...query, _cache: '60' })));

    for (const { body } of replies)
      expect(body).toBe(
        "[ERROR] Parameter '_cache' cannot be used with buckets, because changes in them are not noticed. (BAD_PARAMETER)",
      );
  });
});

it('names buckets for an account until they are removed', async () => {
  const prefixes = createPrefixes(openTable(await mkdtemp(join(directory, 'prefixes-'))));
  await prefixes.set('a', 's3://files/out/', 'write');
  await prefixes.set('a', 's3://files/in/', 'read');
  await prefixes.set('a', 's3://files/in/', 'both');
  await prefixes.set('a', 's3://files/out/', undefined);

  expect(await prefixes.of('a')).toEqual([{ url: 's3://files/in/', access: 'both' }]);
  expect(await prefixes.of('b')).toEqual([]);
  expect(await prefixes.erase('a')).toBe(1);
  expect(await prefixes.of('a')).toEqual([]);
});
