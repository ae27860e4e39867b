import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDynamoTable } from '../../functions/platform/aws/table.ts';
import { createKeys } from '../../functions/platform/key-store.ts';
import { signQuery } from '../../functions/router/admission/authenticate.ts';
import { quarters } from '../fixtures/image.ts';
import { readPdf } from '../helpers/pdf.ts';
import { useEmulator } from './use-emulator.ts';

const run = promisify(execFile);
const used = useEmulator();
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uploads-'));
  await writeFile(file('a.png'), await quarters(40, 30).png().toBuffer());
  await writeFile(
    file('letter.docx'),
    await readFile(join(import.meta.dirname, '../fixtures/office/text.docx')),
  );
  await writeFile(file('page.html'), '<link rel=stylesheet href=style.css><h1>An uploaded page</h1>');
  await writeFile(file('style.css'), 'h1::after { content: " with its style" }');
  await writeFile(file('noise.png'), await noise(1600, 1200));
  // Almost as large as a request may be.
  await writeFile(file('large.png'), await noise(1400, 1000));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const file = (name: string) => join(directory, name);
const noise = (width: number, height: number) =>
  sharp(randomBytes(width * height * 3), { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
const api = (query = '') => `${used().emulator.base}/api/${query}`;
const curl = async (...args: string[]) =>
  (await run('curl', ['-sS', '-g', '-H', `X-Api-Key: ${used().emulator.apiKey}`, ...args])).stdout;
const resultIn = async (body: string) => {
  const [, url] = /^\[Output\] (\S+)<br>$/.exec(body) ?? [];
  expect(url, body).toBeTruthy();
  return Buffer.from(await (await fetch(url!)).arrayBuffer());
};
const widthIn = async (body: string) => (await sharp(await resultIn(body)).metadata()).width;

/** Keys of the uploads in the bucket. */
async function uploads(): Promise<string[]> {
  const { client, bucket } = used().emulator.storage;
  const { Contents = [] } = await client.send(
    new ListObjectsV2Command({ Bucket: bucket, Prefix: 'uploads/' }),
  );
  return Contents.map(({ Key }) => Key!);
}

const IMAGE = '?app=imageproc&outfile=b.jpg&-resize=20x10!';
const FIELDS = ['-F', 'app=imageproc', '-F', 'outfile=b.jpg', '-F', '-resize=20x10!'];

describe('a file in a request', () => {
  it.each([
    ['-F before the parameters', () => ['-F', `infile=@${file('a.png')}`, ...FIELDS, api()]],
    ['-F after the parameters', () => [...FIELDS, '-F', `infile=@${file('a.png')}`, api()]],
    ['-F, and 4.2 MB', () => ['-F', `infile=@${file('large.png')}`, ...FIELDS, api()]],
    ['-T', () => ['-T', file('a.png'), api(IMAGE)]],
    ['--data-binary', () => ['--data-binary', `@${file('a.png')}`, api(IMAGE)]],
  ])('is converted and deleted, with curl %s', async (_, args) => {
    expect(await widthIn(await curl(...args()))).toBe(20);
    expect(await uploads()).toEqual([]);
  });

  it('keeps its name, with curl -T', async () => {
    const body = await curl('-T', file('letter.docx'), api('?app=doc2any&outfile=a.pdf'));

    expect((await resultIn(body)).toString('latin1', 0, 5)).toBe('%PDF-');
  });

  it('may be a page with its assets', async () => {
    const parts = ['-F', `infile=@${file('page.html')}`, '-F', `asset=@${file('style.css')}`];

    const body = await curl('-F', 'app=html2pdf', '-F', 'outfile=a.pdf', ...parts, api());

    expect((await readPdf(await resultIn(body))).pages[0]!.text).toBe('An uploaded page with its style');
  });

  it('may be a data URL, and keeps the order of the options in a form', async () => {
    const data = `infile=data:image/png;base64,${(await readFile(file('a.png'))).toString('base64')}`;
    const options = [
      '-d',
      'app=imageproc',
      '-d',
      'outfile=b.png',
      '-d',
      '-crop=20x20%2B0%2B0',
      '-d',
      '-resize=10x',
    ];

    const body = await curl('--data-urlencode', data, ...options, api());

    expect(await widthIn(body)).toBe(10);
  });

  it('is returned itself with _response=file', async () => {
    await curl('-o', file('out.jpg'), '-T', file('a.png'), api(`${IMAGE}&_response=file`));

    expect((await sharp(file('out.jpg')).metadata()).width).toBe(20);
  });

  it('above the limit of an event is refused, with what to do instead', async () => {
    const body = await curl('-T', file('noise.png'), api(IMAGE));

    expect(body).toMatch(/^\[ERROR\] The request is too large.* POST \/api\/uploads\. \(BAD_PARAMETER\)$/);
  });
});

describe('POST /api/uploads', () => {
  interface Form {
    readonly infile: string;
    readonly url: string;
    readonly fields: Readonly<Record<string, string>>;
    readonly maxBytes: number;
  }
  const prepare = async () => JSON.parse(await curl('-X', 'POST', api('uploads?name=noise.png'))) as Form;
  const send = async ({ url, fields }: Form, path: string) => {
    const parts = [...Object.entries(fields).map(([name, value]) => `${name}=${value}`), `file=@${path}`];
    const args = parts.flatMap((part) => ['-F', part]);
    return (await run('curl', ['-sS', '-o', '/dev/null', '-w', '%{http_code}', ...args, url])).stdout;
  };

  it('names an upload that never arrived', async () => {
    const { infile } = await prepare();

    const { status, body } = await used().ask({ app: 'html2pdf', outfile: 'b.pdf', infile });

    expect([status, body]).toEqual([
      424,
      '[ERROR] The upload does not exist or has expired. (SOURCE_STATUS)',
    ]);
  });

  it.each([
    ['key', (text: string) => `${text.slice(0, -1)}0`],
    ['Content-Type', () => 'text/html'],
    ['Policy', (text: string) => `${text.slice(0, 20)}A${text.slice(21)}`],
  ])('signs the field %s', async (name, change) => {
    const form = await prepare();
    const fields = { ...form.fields, [name]: change(form.fields[name]!) };

    expect(await send({ ...form, fields }, file('a.png'))).toMatch(/^40[03]$/);
  });
});

describe('a signed link', () => {
  it('is read from a query without order, reuses its result, and is 403 if a value was changed', async () => {
    const { table, base } = used().emulator;
    const keys = createKeys(createDynamoTable({ client: table.client, table: 'keys' }));
    const { record } = await keys.create({ name: 'site', kind: 'signing' });
    const { secret } = (await keys.findSigner(record.id))!;
    const parameters = {
      app: 'imageproc',
      infile: used().urlOf('a.png'),
      outfile: 'a.jpg',
      _cache: '60',
      '-resize': '50x',
    };
    const query = Object.entries(parameters).map(([name, value]) => ({ name, value }));
    const link = signQuery(query, { id: record.id, secret, expires: Math.floor(Date.now() / 1000) + 60 });
    const ask = (text: string) => fetch(`${base}/api/?${text}`);

    const [first, second] = [await ask(link), await ask(link)];
    const changed = await ask(link.replace('50x', '51x'));

    expect(await widthIn(await first.text())).toBe(50);
    expect([first, second].map(({ headers }) => headers.get('x-cache'))).toEqual(['miss', 'hit']);
    expect([changed.status, changed.headers.get('x-error-code')]).toEqual([403, 'INVALID_LINK']);
  });
});
