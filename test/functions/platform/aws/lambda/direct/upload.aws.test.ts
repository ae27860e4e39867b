import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetObjectCommand, PutObjectCommand, type PutObjectCommandInput, S3Client } from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FILE_NAME, type Upload } from '../../../../../../functions/platform/aws/lambda/direct/event.ts';
import { readEvent } from '../../../../../../functions/platform/aws/lambda/direct/run.ts';
import { createReceiver } from '../../../../../../functions/platform/aws/lambda/direct/upload.ts';
import { createEgressGuard } from '../../../../../../functions/shared/egress/guard.ts';
import { pdftools } from '../../../../../../functions/tools.ts';
import { type RadosGateway, startRadosGateway } from '../../../../../aws-servers/radosgw.ts';

const TEXT = '%PDF-1.7 of a test';
let gateway: RadosGateway;
/** An S3 client with the SDK's defaults, as callers have it. */
let s3: S3Client;
/** The same, without checksums. */
let signing: S3Client;
let directory: string;

beforeAll(async () => {
  gateway = await startRadosGateway('uploads');
  s3 = new S3Client(gateway.config);
  signing = new S3Client({ ...gateway.config, requestChecksumCalculation: 'WHEN_REQUIRED' });
  directory = mkdtempSync(join(tmpdir(), 'upload-'));
  writeFileSync(join(directory, 'a.pdf'), TEXT);
});
afterAll(async () => {
  s3.destroy();
  signing.destroy();
  rmSync(directory, { recursive: true });
  await gateway.close();
});

async function upload(to: Upload): Promise<void> {
  const egress = createEgressGuard({ exceptions: [new URL(gateway.endpoint).host] });
  const file = {
    path: join(directory, 'a.pdf'),
    name: 'a.pdf',
    contentType: 'application/pdf',
    bytes: TEXT.length,
  };
  await createReceiver(to, egress, 'account').receive(file, AbortSignal.timeout(120_000));
}

async function stored(key: string) {
  const { Body, ContentType, Metadata } = await s3.send(
    new GetObjectCommand({ Bucket: gateway.bucket, Key: key }),
  );
  return { text: await Body!.transformToString(), contentType: ContentType, metadata: Metadata };
}

describe('a presigned POST form', () => {
  it.each<[string, Record<string, string>]>([
    ['plain', {}],
    ['with-status-201', { success_action_status: '201' }],
    ['with-redirect', { success_action_redirect: 'https://example.com/done' }],
    ['with-type', { 'Content-Type': 'application/pdf' }],
    ['with-metadata', { 'x-amz-meta-origin': 'test' }],
    ['with-acl', { acl: 'private' }],
  ])('takes the file, %s', async (key, Fields) => {
    const form = await createPresignedPost(s3, { Bucket: gateway.bucket, Key: key, Fields, Expires: 600 });

    await upload(form);

    expect((await stored(key)).text).toBe(TEXT);
  });

  it('fills in the name of the file', async () => {
    const form = await createPresignedPost(s3, {
      Bucket: gateway.bucket,
      Key: `x/${FILE_NAME}`,
      Expires: 600,
    });

    await upload(form);

    expect((await stored('x/a.pdf')).text).toBe(TEXT);
  });

  it('that has expired is an error of the caller', async () => {
    const form = await createPresignedPost(s3, { Bucket: gateway.bucket, Key: 'late', Expires: -10 });

    await expect(upload(form)).rejects.toMatchObject({ code: 'BAD_PARAMETER' });
  });

  it('that does not allow the file is an error of the caller', async () => {
    const Conditions: Parameters<typeof createPresignedPost>[1]['Conditions'] = [
      ['content-length-range', 1, 5],
    ];
    const form = await createPresignedPost(s3, { Bucket: gateway.bucket, Key: 'small', Conditions });

    await expect(upload(form)).rejects.toMatchObject({ code: 'RESULT_TOO_LARGE' });
  });
});

describe('a presigned PUT URL', () => {
  const urlFor = (key: string, input: Partial<PutObjectCommandInput> = {}, client = signing) =>
    getSignedUrl(client, new PutObjectCommand({ Bucket: gateway.bucket, Key: key, ...input }), {
      expiresIn: 600,
    });

  it('takes the file, with its content type', async () => {
    await upload({ url: await urlFor('put', { ContentType: 'application/pdf' }) });

    expect(await stored('put')).toMatchObject({ text: TEXT, contentType: 'application/pdf' });
  });

  it('takes the file with metadata', async () => {
    await upload({ url: await urlFor('put-metadata', { Metadata: { origin: 'test' } }) });

    expect(await stored('put-metadata')).toMatchObject({ text: TEXT, metadata: { origin: 'test' } });
  });

  it('that the SDK has signed with the checksum of an empty file is refused before the conversion', async () => {
    const url = await urlFor('put-default', {}, s3);
    const event = { version: 1, infile: 'https://example.com/a.pdf', outfile: 'a.png', upload: { url } };

    expect(() => readEvent(pdftools, event)).toThrow('checksum of an empty file');
  });
});

it('names the upload if its URL is blocked', async () => {
  const blocked = upload({ url: 'http://169.254.169.254/a?X-Amz-Signature=1' });

  await expect(blocked).rejects.toMatchObject({
    code: 'BLOCKED_ADDRESS',
    message: expect.stringMatching(/^Field 'upload': /),
    parameter: 'upload',
  });
});
