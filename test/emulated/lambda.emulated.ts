import { randomBytes } from 'node:crypto';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import {
  DeleteObjectCommand,
  ListObjectsV2Command,
  PutBucketLifecycleConfigurationCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QUERIES } from '../../infra/aws/constructs/alarms.ts';
import type { Check } from '../../infra/aws/smoke/check.ts';
import { checkService } from '../../infra/aws/smoke/checks.ts';
import { checkClaims } from '../../infra/aws/smoke/claims.ts';
import { checkFunctions } from '../../infra/aws/smoke/direct.ts';
import { readVersion } from '../../infra/version.ts';
import { FORBIDDEN_V4, spellingsOfV4 } from '../fixtures/address-spellings.ts';
import { CALLS, useEmulator } from './use-emulator.ts';

const used = useEmulator();
let lambda: LambdaClient;
beforeAll(() => {
  const credentials = { accessKeyId: 'operator', secretAccessKey: 'secret' };
  lambda = new LambdaClient({ endpoint: used().emulator.lambda, region: 'us-east-1', credentials });
});
afterAll(() => lambda.destroy());

/** Sends a request with any method and headers. */
async function send(path: string, init?: RequestInit) {
  const response = await fetch(`${used().emulator.base}${path}`, init);
  const { status, headers } = response;
  return { status, headers, body: Buffer.from(await response.arrayBuffer()) };
}

const keyed = (query: string) => `/api/?apikey=${used().emulator.apiKey}&${query}`;

async function collect(checking: AsyncIterable<Check>): Promise<Check[]> {
  const all: Check[] = [];
  for await (const check of checking) all.push(check);
  return all;
}

const sourcesOf = () => Object.fromEntries(CALLS.map(({ app, infile }) => [app, used().urlOf(infile)]));

describe("the operator's checks of a deployment", () => {
  it('pass for every function that is invoked directly, which has no sandbox under the filter of Lambda', async () => {
    const names = Object.fromEntries(CALLS.map(({ app }) => [app, app]));

    const checks = await collect(checkFunctions({ lambda, names, isolated: true, sources: sourcesOf() }));

    expect(checks).toHaveLength(2 * CALLS.length);
    expect(checks.filter(({ passed }) => !passed)).toEqual([]);
    const seen = (tool: string) =>
      checks.find(({ title }) => title === `${tool}: invoked directly, returns a file`)!.seen;
    for (const tool of ['pdftools', 'imageproc', 'doc2any'])
      expect(seen(tool)).toMatch(/^\d+ bytes, sandbox: none$/);
    // The browser and its network process. The page's may have ended, and the next one's not have started.
    for (const tool of ['html2pdf', 'html2image'])
      expect(seen(tool)).toMatch(/sandbox: none, ([2-9]|\d\d) processes of Chromium$/);
  });

  it('pass for the service, which calls every tool for another account', async () => {
    const { base, apiKey } = used().emulator;

    const checks = await collect(checkService({ base, apiKey, sources: sourcesOf() }));

    expect(checks.length).toBeGreaterThanOrEqual(10);
    expect(checks.filter(({ passed }) => !passed)).toEqual([]);
  });

  it('pass for what must be verified on AWS', async () => {
    const { emulator } = used();
    const { bucket, client: s3 } = emulator.storage;
    const rule = { ID: 'a', Status: 'Enabled', Filter: { Prefix: '' }, Expiration: { Days: 1 } } as const;
    const lifecycle = { Bucket: bucket, LifecycleConfiguration: { Rules: [rule] } };
    await s3.send(new PutBucketLifecycleConfigurationCommand(lifecycle));

    const checks = await collect(
      checkClaims({
        base: emulator.base,
        apiKey: emulator.apiKey,
        frontUrl: `${emulator.base}/api/`,
        isolated: true,
        lambda,
        s3,
        dynamodb: emulator.table.client,
        names: Object.fromEntries(CALLS.map(({ app }) => [app, app])),
        bucket,
        bucketUrl: `${emulator.storage.endpoint}/${bucket}`,
        table: 'keys',
      }),
    );

    expect(checks).toHaveLength(6);
    expect(checks.filter(({ passed }) => !passed)).toEqual([]);
  });

  it('were handled in environments of their own for each account', () => {
    for (const { app } of CALLS) {
      const { served } = used().emulator.functions.get(app)!;
      const accounts = [...served].map(([{ account }, all]) => [account, [...all]] as const);

      expect(new Set(accounts.map(([account]) => account)).size, app).toBe(2);
      for (const [account, all] of accounts) expect(all).toEqual([account]);
    }
  });
});

it('names the versions that were deployed', async () => {
  const { status, body } = await send('/api/version');

  expect(status).toBe(200);
  expect(JSON.parse(body.toString())).toEqual(readVersion((layer) => `dist/layers/${layer}`));
});

it('lets an operator find a failed call in the logs of router and tool by the request ID of its reply', async () => {
  const { emulator, urlOf } = used();
  const query = (name: string, values: Readonly<Record<string, string>> = {}) =>
    runQuery(
      QUERIES[name]!.replace(/[A-Z]+_ID|ACCOUNT/g, (found) => values[found] ?? found),
      readEvents(emulator.logs),
    );
  const path = keyed(`app=imageproc&outfile=a.png&infile=${urlOf('a.html')}`);

  const { headers, body } = await send(path, { headers: { accept: 'application/json' } });
  const { requestId, code } = JSON.parse(body.toString());

  expect(headers.get('x-request-id')).toBe(requestId);
  const found = query('by request ID', { REQUEST_ID: requestId });
  expect(found.map((line) => [line['@log'], line.event, line.code])).toEqual([
    ['imageproc', 'failed', code],
    ['router', 'call', code],
  ]);
  const failed = readEvents(emulator.logs).findLast((line) => line.event === 'failed')!;
  expect(query('by account', { ACCOUNT: String(failed.account) })).toContainEqual(
    expect.objectContaining({ requestId, event: 'failed' }),
  );
  expect(query('slowest')[0]!.milliseconds).toBeGreaterThan(Number(found[0]!.milliseconds));
  expect(query('failed by code')).toContainEqual(
    expect.objectContaining({ code, tool: 'imageproc', example: requestId }),
  );
});

describe('the gateway', () => {
  it.each(['HEAD', 'OPTIONS', 'PATCH'])('passes on the method %s, which is refused', async (method) => {
    const { status, headers } = await send(keyed(''), { method });

    expect(status).toBe(405);
    expect(headers.get('x-error-code')).toBe('METHOD_NOT_ALLOWED');
  });

  it('passes on a query without its order, so options that depend on it need _args', async () => {
    const { status, body } = await send(
      keyed('app=imageproc&infile=http://a.example/&outfile=a.png&-crop=1x1&-resize=1x1'),
    );

    expect([status, body.toString()]).toEqual([400, expect.stringContaining('_args=-')]);
  });

  it('passes on names of options that every object has', async () => {
    const { body } = await send(keyed('app=imageproc&__proto__=1&constructor=1'));

    for (const name of ['__proto__', 'constructor'])
      expect(body.toString()).toContain(`Unknown option '${name}' for imageproc.`);
  });

  it('refuses a request above its limit, and accepts one below it', async () => {
    // One option alone may not be that long.
    const withOptions = (length: number) =>
      send(keyed(`app=imageproc&-x=${'y'.repeat(length / 2)}&-z=${'y'.repeat(length / 2)}`));

    const [below, above] = [await withOptions(9500), await withOptions(10_300)];

    expect(below.body.toString()).toContain("Unknown option '-x'");
    expect([above.status, above.body.toString()]).toEqual([
      400,
      expect.stringMatching(/^\[ERROR\] The request is too large\. .+ \(BAD_PARAMETER\)$/),
    ]);
  });

  it('streams a result of several megabytes that was sent with the request', async () => {
    const noise = { width: 1100, height: 1000, channels: 3 } as const;
    const picture = await sharp(randomBytes(1100 * 1000 * 3), { raw: noise })
      .png()
      .toBuffer();
    const query = keyed('app=imageproc&outfile=a.tiff&_response=file&-compress=none');

    const { status, body } = await send(query, { method: 'POST', body: new Uint8Array(picture) });

    expect(status, body.toString('latin1', 0, 200)).toBe(200);
    expect(await sharp(body).metadata()).toMatchObject({ format: 'tiff', width: 1100, height: 1000 });
    expect((await stored('uploads/')).length).toBe(0);
  });

  it('serves the site', async () => {
    const { status, body } = await send('/api/site/docs/pdftools');

    expect([status, body.toString()]).toEqual([200, expect.stringContaining('id="-r"')]);
  });
});

it('runs a job in a durable execution', async () => {
  const { urlOf, emulator } = used();
  const path = keyed(`app=imageproc&outfile=a.jpg&_async=1&infile=${urlOf('job/a.png')}`);

  const accepted = await send(path);
  const { pathname } = new URL(accepted.headers.get('location')!);
  await expect
    .poll(async () =>
      JSON.parse((await send(`${pathname}?wait=10&apikey=${emulator.apiKey}`)).body.toString()),
    )
    .toMatchObject({ status: 'done', outputs: [{ url: expect.stringContaining('/a.jpg') }] });

  expect(accepted.status).toBe(202);
  expect(emulator.functions.get('jobs')!.events).toBe(2);
});

it('converts after AWS has closed the connections of a frozen router', async () => {
  const { ask, urlOf, emulator } = used();
  const { started } = emulator.functions.get('router')!;

  for (const name of ['first', 'second', 'third']) {
    emulator.closeIdleConnections();
    const { status, body } = await ask({
      app: 'imageproc',
      infile: urlOf(`${name}/a.png`),
      outfile: 'a.jpg',
    });
    expect(status, body).toBe(200);
  }
  expect(emulator.functions.get('router')!.started).toBe(started);
});

it('shows WebGL, whose driver is inflated beside Chromium', async () => {
  const { ask, urlOf } = used();
  const query = { app: 'html2image', infile: urlOf('webgl.html'), outfile: 'a.png', '--width': '100' };

  const { body } = await ask(query);

  const result = await fetch(/^\[Output\] (\S+)<br>$/.exec(body)?.[1] ?? body);
  const pixel = { left: 50, top: 50, width: 1, height: 1 };
  const picture = sharp(await result.arrayBuffer())
    .extract(pixel)
    .removeAlpha();
  expect([...(await picture.raw().toBuffer())]).toEqual([0, 255, 0]);
});

it('fails for a page that needs more memory than the function has, and serves the next one', async () => {
  const { ask, urlOf, emulator } = used();
  const pool = emulator.functions.get('html2image')!;
  const { started } = pool;

  const hungry = await ask({ app: 'html2image', infile: urlOf('hungry.html'), outfile: 'a.png' });
  const next = await ask({ app: 'html2image', infile: urlOf('next/a.html'), outfile: 'a.png' });

  expect([hungry.status, hungry.body]).toEqual([
    422,
    expect.stringMatching(/memory.*\(CONVERSION_FAILED\)$/),
  ]);
  expect(next.status, next.body).toBe(200);
  expect(pool.started).toBe(started);
  expect(pool.memory).toBeLessThan(emulator.definitions.get('html2image')!.memory);
});

describe('a direct invocation', () => {
  /** Invokes a function as the caller of the checks above, whose environments are warm. */
  async function invoke(tool: string, event: object, qualifier = 'live') {
    const FunctionName = `arn:aws:lambda:us-east-1:123456789012:function:${tool}:${qualifier}`;
    const Payload = JSON.stringify(event);
    const reply = await lambda.send(new InvokeCommand({ FunctionName, Payload, TenantId: 'smoke' }));
    return { payload: JSON.parse(Buffer.from(reply.Payload!).toString()), error: reply.FunctionError };
  }

  /** An event as the router sends it, with a grant that it did not sign. */
  const routerEvent = (tool: string, url: string) => ({
    tool,
    account: 'b',
    source: used().urlOf('a.png'),
    format: 'png',
    outputName: { kind: 'one', name: 'a.png' },
    options: {},
    grant: { url, fields: {}, prefix: 'a/', maxBytes: 1e9 },
    limits: {
      ...{ sourceBytes: 1e12, resultBytes: 1e12, pixels: 1e12, pages: 1e9, files: 1e9 },
      ...{ conversionTime: 1e9, settleTime: 1 },
    },
    deadline: 1e15,
  });
  const RUNTIME_API = 'http://127.0.0.1:9001/2018-06-01/runtime/invocation/next';

  it.each(CALLS)('of $app takes no event of the router', async ({ app }) => {
    const { payload, error } = await invoke(app, routerEvent(app, RUNTIME_API));

    expect([error, payload.errorType]).toEqual(['Unhandled', 'BAD_PARAMETER']);
    expect(payload.errorMessage).toContain("Field 'version' must be the number 1");
  });

  it('of a version sends results only to the bucket of the service, whatever URL its event names', async () => {
    // The server of sources accepts everything.
    const { payload } = await invoke('imageproc', routerEvent('imageproc', used().urlOf('a.png')), '1');

    expect(payload).toMatchObject({ ok: false });
  });

  it('reads from no private address and uploads to none, however it is spelled', async () => {
    const hosts = FORBIDDEN_V4.flatMap(spellingsOfV4).filter(
      (host, index) => index % 17 === 0 && !/:\d+$/.test(host),
    );
    const event = { version: 1, infile: used().urlOf('a.png'), outfile: 'a.jpg' };
    const events = hosts
      .map((host) => `http://${host}:9001/x`)
      .filter((url) => URL.canParse(url))
      .flatMap((url) => [
        { ...event, infile: url },
        { ...event, upload: { url } },
      ]);
    const codes: string[] = [];

    for (const each of events) codes.push((await invoke('imageproc', each)).payload.errorType);

    expect(codes.length).toBeGreaterThan(20);
    expect(codes.filter((code) => code !== 'BLOCKED_ADDRESS')).toEqual([]);
  });

  it('returns at most 4.5 MB inline', async () => {
    const event = { version: 1, infile: used().urlOf('noise.png'), outfile: 'a.png' };

    const { payload } = await invoke('imageproc', event);

    expect(payload).toMatchObject({
      errorType: 'RESULT_TOO_LARGE',
      errorMessage: expect.stringContaining("Pass 'upload'"),
    });
  });
});

it('converts an upload to the form of the bucket only for its account', async () => {
  const { emulator, ask, newKey } = used();
  const headers = { 'X-Api-Key': emulator.apiKey };
  const issued = await send('/api/uploads?name=noise.png', { method: 'POST', headers });
  const { url, fields, infile } = JSON.parse(issued.body.toString());
  const form = new FormData();
  for (const [name, value] of Object.entries<string>(fields)) form.append(name, value);
  form.append('file', await (await fetch(used().urlOf('noise.png'))).blob(), 'noise.png');

  const sent = await fetch(url, { method: 'POST', body: form });
  const query = { app: 'imageproc', outfile: 'b.jpg', '-resize': '20x10!', infile };
  const [own, foreign] = [await ask(query), await ask(query, await newKey())];

  expect(sent.status).toBe(204);
  expect(own.body).toMatch(/^\[Output\] /);
  expect(foreign.body).toBe('[ERROR] The upload does not exist or has expired. (SOURCE_STATUS)');
});

/** Keys of the objects in the bucket. */
async function stored(prefix: string): Promise<string[]> {
  const { client, bucket } = used().emulator.storage;
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix }));
  return Contents.map(({ Key }) => Key!);
}

describe('the rights of the router', () => {
  it('suffice for everything above and to delete results, and allow no list of them', async () => {
    const { emulator } = used();
    expect(emulator.denied).toEqual([]);
    const { config, credentials, bucket: Bucket } = emulator.storage;
    const s3 = new S3Client({ ...config, endpoint: emulator.storageUrl, credentials });
    const outcome = (sent: Promise<unknown>) =>
      sent.then(
        () => 'allowed',
        ({ name }: Error) => name,
      );

    const outcomes = [
      await outcome(s3.send(new ListObjectsV2Command({ Bucket }))),
      await outcome(s3.send(new DeleteObjectCommand({ Bucket, Key: `${'0'.repeat(32)}/b.png` }))),
      await outcome(s3.send(new DeleteObjectCommand({ Bucket, Key: 'cache/b.png' }))),
    ];

    s3.destroy();
    expect(outcomes).toEqual(['AccessDenied', 'allowed', 'AccessDenied']);
    expect(emulator.denied).toHaveLength(2);
  });
});

/** A log event: the fields of its JSON, and those that CloudWatch adds, such as `@timestamp`. */
type LogEvent = Readonly<Record<string, unknown>>;

/** Returns the log events of functions, whose logs are given by name. Lines that are not JSON are left out. */
function readEvents(logs: ReadonlyMap<string, string>): LogEvent[] {
  return [...logs].flatMap(([name, log]) =>
    log
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))
      .map((fields) => ({ ...fields, '@log': name, '@timestamp': Date.parse(fields.time) })),
  );
}

type Command = (text: string) => (events: readonly LogEvent[]) => LogEvent[];

/** The commands of the saved queries, in the forms that these have. */
const COMMANDS: Readonly<Record<string, Command>> = {
  fields: (text) => {
    const names = text.split(', ').map(fieldName);
    return (events) => events.map((event) => pick(event, names));
  },
  filter: (text) => {
    const choices = text.split(' or ').map((choice) => choice.split(' and ').map(comparison));
    return (events) => events.filter((event) => choices.some((all) => all.every((holds) => holds(event))));
  },
  sort: (text) => {
    const [, name, order] = match(/^(\S+) (asc|desc)$/, text);
    const sign = order === 'asc' ? 1 : -1;
    return (events) =>
      events.toSorted((one, other) => sign * (Number(one[name!] ?? 0) - Number(other[name!] ?? 0)));
  },
  limit: (text) => {
    const [limit] = match(/^\d+$/, text);
    return (events) => events.slice(0, Number(limit));
  },
  stats: (text) => {
    const [, columns, by] = match(/^(.+) by (.+)$/, text);
    const names = by!.split(', ').map(fieldName);
    const aggregates = columns!.split(', ').map(aggregate);
    return (events) =>
      [...Map.groupBy(events, (event) => JSON.stringify(pick(event, names)))].map(([group, all]) => ({
        ...JSON.parse(group),
        ...Object.fromEntries(aggregates.map(({ name, of }) => [name, of(all)])),
      }));
  },
};

const AGGREGATES: Readonly<Record<string, (events: readonly LogEvent[], field: string) => unknown>> = {
  count: (events) => events.length,
  count_distinct: (events, field) => new Set(events.flatMap((event) => event[field] ?? [])).size,
  latest: (events, field) =>
    events.toSorted((one, other) => Number(one['@timestamp']) - Number(other['@timestamp'])).at(-1)?.[field],
};

/**
 * Runs a saved query of CloudWatch Logs Insights over log events.
 * @throws Error for anything that the saved queries do not use.
 */
function runQuery(query: string, events: readonly LogEvent[]): LogEvent[] {
  // `fields` chooses what is shown. The commands after it still see all fields.
  const lines = query.split('\n| ').toSorted((one, other) => rank(one) - rank(other));
  return lines.reduce<LogEvent[]>(
    (found, line) => {
      const [, name, text] = match(/^(\w+) (.+)$/, line);
      return known(COMMANDS, name!)(text!)(found);
    },
    [...events],
  );
}

function rank(line: string): number {
  return Number(line.startsWith('fields '));
}

function comparison(text: string): (event: LogEvent) => boolean {
  const [, name, operator, value] = match(/^(\w+) (!?=) '([^']*)'$/, text);
  return (event) => name! in event && (event[name!] === value) === (operator === '=');
}

function aggregate(text: string) {
  const [, call, field, name] = match(/^(\w+)\((\*|\w+)\) as (\w+)$/, text);
  const compute = known(AGGREGATES, call!);
  return { name: name!, of: (events: readonly LogEvent[]) => compute(events, field!) };
}

function fieldName(text: string): string {
  return match(/^@?\w+$/, text)[0];
}

function pick(event: LogEvent, names: readonly string[]): LogEvent {
  return Object.fromEntries(names.filter((name) => name in event).map((name) => [name, event[name]]));
}

function match(form: RegExp, text: string): RegExpExecArray {
  const found = form.exec(text);
  if (!found) throw new Error(`The test helper does not know this part of a query: ${text}`);
  return found;
}

function known<Value>(values: Readonly<Record<string, Value>>, name: string): Value {
  const value = values[name];
  if (!value) throw new Error(`The test helper does not know '${name}' in a query.`);
  return value;
}
