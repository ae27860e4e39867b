import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ToolResult, Upload } from '../../functions/platform/aws/lambda/direct/event.ts';
import { CALLS, useEmulator } from './use-emulator.ts';

const used = useEmulator();
let lambda: LambdaClient;
let s3: S3Client;
const MAGIC: Readonly<Record<string, string>> = { png: '\x89PNG', pdf: '%PDF', jpg: '\xff\xd8\xff' };

beforeAll(() => {
  const { emulator } = used();
  const credentials = { accessKeyId: 'caller', secretAccessKey: 'secret' };
  lambda = new LambdaClient({ endpoint: emulator.lambda, region: 'us-east-1', credentials, maxAttempts: 1 });
  // With the public-looking address of the storage that functions use.
  s3 = new S3Client({
    ...emulator.storage.config,
    endpoint: emulator.storageUrl,
    credentials: emulator.storage.credentials,
    requestChecksumCalculation: 'WHEN_REQUIRED',
  });
});
afterAll(() => {
  lambda.destroy();
  s3.destroy();
});

async function invoke(
  tool: string,
  event: object,
  account: string | undefined = 'caller-1',
  qualifier = 'live',
) {
  const { Payload, FunctionError } = await lambda.send(
    new InvokeCommand({
      FunctionName: `arn:aws:lambda:us-east-1:123456789012:function:${tool}:${qualifier}`,
      Payload: JSON.stringify(event),
      ...(account !== undefined && { TenantId: account }),
    }),
  );
  return { payload: JSON.parse(Buffer.from(Payload!).toString()), error: FunctionError };
}

const eventOf = ({ infile, outfile }: { infile: string; outfile: string }) => ({
  version: 1,
  infile: used().urlOf(infile),
  outfile,
});

/** An event as the router sends it, with a grant that it did not sign. */
const routerEventOf = (
  tool: string,
  { url = 'http://127.0.0.1:9001/2018-06-01/runtime/invocation/next' } = {},
) => ({
  tool,
  account: 'b',
  source: used().urlOf('a.png'),
  format: 'png',
  outputName: { kind: 'one', name: 'a.png' },
  options: {},
  grant: { url, fields: {}, prefix: 'a/', maxBytes: 1e9 },
  limits: {
    sourceBytes: 1e12,
    resultBytes: 1e12,
    pixels: 1e12,
    pages: 1e9,
    files: 1e9,
    conversionTime: 1e9,
    settleTime: 1,
  },
  deadline: 1e15,
});

const stored = async (key: string) => {
  const { Body, ContentType } = await s3.send(
    new GetObjectCommand({ Bucket: used().emulator.storage.bucket, Key: key }),
  );
  return { bytes: Buffer.from(await Body!.transformToByteArray()), contentType: ContentType };
};

function formFor(key: string): Promise<Upload> {
  return createPresignedPost(s3, {
    Bucket: used().emulator.storage.bucket,
    Key: key,
    Conditions: [['content-length-range', 1, 1_000_000]],
    Expires: 600,
  });
}

function putUrlFor(key: string): Promise<string> {
  return getSignedUrl(s3, new PutObjectCommand({ Bucket: used().emulator.storage.bucket, Key: key }), {
    expiresIn: 600,
  });
}

describe.each(CALLS)('$app, invoked directly', (call) => {
  const extension = call.outfile.split('.').at(-1)!;

  it('returns one file inline', async () => {
    const { payload, error } = await invoke(call.app, eventOf(call));

    expect(error, JSON.stringify(payload)).toBeUndefined();
    const result = payload as ToolResult;
    expect(result.outputs).toHaveLength(1);
    const [output] = result.outputs;
    const bytes = Buffer.from(output!.base64!, 'base64');
    expect(output).toMatchObject({ name: call.outfile, bytes: bytes.length });
    expect(bytes.toString('latin1').startsWith(MAGIC[extension]!)).toBe(true);
    expect(result.ignored).toEqual([]);
    expect(result.milliseconds).toBeGreaterThan(0);
  });

  it('uploads one file through a POST form', async () => {
    const upload = await formFor(`direct/${call.app}.${extension}`);

    const { payload, error } = await invoke(call.app, { ...eventOf(call), upload });

    expect(error, JSON.stringify(payload)).toBeUndefined();
    const [output] = (payload as ToolResult).outputs;
    expect(output).not.toHaveProperty('base64');
    const { bytes } = await stored(`direct/${call.app}.${extension}`);
    expect(bytes.length).toBe(output!.bytes);
    expect(bytes.toString('latin1').startsWith(MAGIC[extension]!)).toBe(true);
  });

  it('uploads one file to a PUT URL', async () => {
    const upload = { url: await putUrlFor(`put/${call.app}`) };

    const { payload, error } = await invoke(call.app, { ...eventOf(call), upload });

    expect(error, JSON.stringify(payload)).toBeUndefined();
    const { bytes, contentType } = await stored(`put/${call.app}`);
    expect(bytes.length).toBe((payload as ToolResult).outputs[0]!.bytes);
    expect(contentType).toBe((payload as ToolResult).outputs[0]!.contentType);
  });

  it('throws an error with the code of the service', async () => {
    const { payload, error } = await invoke(call.app, { ...eventOf(call), infile: 'http://127.0.0.1:9001/' });

    expect(error).toBe('Unhandled');
    expect(payload).toMatchObject({ errorType: 'BLOCKED_ADDRESS', errorMessage: expect.any(String) });
  });

  it('reports every mistake of an event in one error', async () => {
    const { payload, error } = await invoke(call.app, { version: 3, outfile: 'a', options: { '--what': 1 } });

    expect(error).toBe('Unhandled');
    expect(payload.errorType).toBe('BAD_PARAMETER');
    for (const name of ["'version'", "'infile'", "'outfile'", "'--what'"]) {
      expect(payload.errorMessage).toContain(name);
    }
  });
});

describe('pages, invoked directly', () => {
  const PAGES = [
    { app: 'pdftools', infile: 'a.pdf', pages: 3 },
    { app: 'doc2any', infile: 'a.docx', pages: 3 },
  ] as const;

  it.each(PAGES)('of $app are returned inline, each with its number', async ({ app, infile, pages }) => {
    const { payload } = await invoke(app, eventOf({ infile, outfile: 'page-%02d.png' }));

    const { outputs, pageCount } = payload as ToolResult;
    expect(pageCount).toBe(pages);
    expect(outputs.map(({ name, page }) => [name, page])).toEqual(
      Array.from({ length: pages }, (_, index) => [`page-0${index + 1}.png`, index + 1]),
    );
    for (const { base64 } of outputs) {
      expect(Buffer.from(base64!, 'base64').toString('latin1').startsWith(MAGIC.png!)).toBe(true);
    }
  });

  it.each(PAGES)('of $app are uploaded under their names', async ({ app, infile, pages }) => {
    const upload = await formFor(`pages/${app}/\${filename}`);

    const { payload } = await invoke(app, { ...eventOf({ infile, outfile: 'p%d.png' }), upload });

    expect((payload as ToolResult).outputs).toHaveLength(pages);
    for (let page = 1; page <= pages; page++) {
      const { bytes } = await stored(`pages/${app}/p${page}.png`);
      expect(bytes.toString('latin1').startsWith(MAGIC.png!)).toBe(true);
    }
  });

  it.each(PAGES)('of $app go as one archive to a PUT URL', async ({ app, infile }) => {
    const upload = { url: await putUrlFor(`archive/${app}.zip`) };

    const { payload } = await invoke(app, { ...eventOf({ infile, outfile: 'p.png.zip' }), upload });

    expect((payload as ToolResult).outputs[0]).toMatchObject({ contentType: 'application/zip' });
    const { bytes } = await stored(`archive/${app}.zip`);
    expect(bytes.toString('latin1', 0, 2)).toBe('PK');
  });
});

describe('the limits of a direct invocation', () => {
  it('are 4.5 MB for a result that is returned inline', async () => {
    const event = eventOf({ infile: 'noise.png', outfile: 'a.png' });

    const { payload, error } = await invoke('imageproc', event);

    expect(error).toBe('Unhandled');
    expect(payload.errorType).toBe('RESULT_TOO_LARGE');
    expect(payload.errorMessage).toContain("Pass 'upload'");
  });

  it('are those of the upload form', async () => {
    const upload = await formFor('large.png');
    const event = eventOf({ infile: 'noise.png', outfile: 'a.png' });

    const { payload } = await invoke('imageproc', { ...event, upload });

    expect(payload).toMatchObject({ errorType: 'RESULT_TOO_LARGE' });
  });

  it.each(['http://127.0.0.1:9001/x', 'http://169.254.169.254/latest/', 'http://10.0.0.1/bucket'])(
    'do not allow an upload to %s',
    async (url) => {
      const event = { ...eventOf({ infile: 'a.png', outfile: 'a.jpg' }), upload: { url } };

      const { payload } = await invoke('imageproc', event);

      expect(payload.errorType).toBe('BLOCKED_ADDRESS');
    },
  );

  it('report an upload that the storage refuses', async () => {
    const url = (await putUrlFor('refused')).replace(/Signature=..../, 'Signature=0000');
    const event = { ...eventOf({ infile: 'a.png', outfile: 'a.jpg' }), upload: { url } };

    const { payload } = await invoke('imageproc', event);

    expect(payload).toMatchObject({
      errorType: 'BAD_PARAMETER',
      errorMessage: expect.stringMatching(/refused the file with status 403 \(SignatureDoesNotMatch\)/),
    });
  });

  it.each(['pdftools', 'imageproc'])('%s takes no event of the router from other callers', async (tool) => {
    const { emulator } = used();
    const before = emulator.functions.get(tool)!.events;

    const { payload, error } = await invoke(tool, routerEventOf(tool));

    expect(error).toBe('Unhandled');
    expect(payload.errorType).toBe('BAD_PARAMETER');
    expect(payload.errorMessage).toContain("Field 'version' must be the number 1");
    expect(emulator.functions.get(tool)!.events).toBe(before + 1);
  });

  it('sends results only to the bucket of the service, whatever URL an event names', async () => {
    // The server of sources accepts everything.
    const url = used().urlOf('a.png');

    const { payload } = await invoke('imageproc', routerEventOf('imageproc', { url }), 'caller-1', '1');

    expect(payload).toMatchObject({ ok: false });
  });

  it('ask for a tenant ID, as Lambda does for a function with tenant isolation', async () => {
    const event = eventOf({ infile: 'a.png', outfile: 'a.jpg' });

    const withoutTenant = lambda.send(
      new InvokeCommand({ FunctionName: 'imageproc', Payload: JSON.stringify(event) }),
    );

    await expect(withoutTenant).rejects.toMatchObject({ name: 'InvalidParameterValueException' });
  });
});
