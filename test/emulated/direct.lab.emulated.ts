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
  it('are those of the upload form', async () => {
    const upload = await formFor('large.png');
    const event = eventOf({ infile: 'noise.png', outfile: 'a.png' });

    const { payload } = await invoke('imageproc', { ...event, upload });

    expect(payload).toMatchObject({ errorType: 'RESULT_TOO_LARGE' });
  });

  it('report an upload that the storage refuses', async () => {
    const url = (await putUrlFor('refused')).replace(/Signature=..../, 'Signature=0000');
    const event = { ...eventOf({ infile: 'a.png', outfile: 'a.jpg' }), upload: { url } };

    const { payload } = await invoke('imageproc', event);

    expect(payload).toMatchObject({
      errorType: 'BAD_PARAMETER',
      errorMessage: expect.stringMatching(/refused the file with status 403 \(SignatureDoesNotMatch\)/),
    });
  });
});
