import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createQpdf, type Edit, type Qpdf } from '../../../../functions/engines/pdf/qpdf.ts';
import { makePdf, numberedPages } from '../../../fixtures/pdf.ts';

let temporary: string;
let qpdf: Qpdf;

beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'qpdf-test-'));
  qpdf = createQpdf({ layers: resolve('dist/layers'), temporary, size: 1 });
});

afterAll(async () => {
  await qpdf.close();
  await rm(temporary, { recursive: true });
});

async function edit(
  bytes: Buffer,
  { password, ...changes }: Edit & { password?: string | undefined },
  update?: string,
) {
  const directory = await mkdtemp(join(temporary, 'conversion-'));
  const [path, target] = [join(directory, 'source'), join(directory, 'target.pdf')];
  await writeFile(path, bytes);
  const request = { account: 'test', directory, signal: AbortSignal.timeout(120_000) };
  const file = update === undefined ? undefined : join(directory, 'update.json');
  if (file) await writeFile(file, update!);
  const { pageCount } = await qpdf.edit({ path, password }, target, { update: file, ...changes }, request);
  return { pageCount, bytes: await readFile(target) };
}

/** Reads with a different engine than the one that wrote. */
async function read(bytes: Buffer, password?: string) {
  const task = getDocument({ data: new Uint8Array(bytes), verbosity: 0, ...(password && { password }) });
  const document = await task.promise;
  const pages = [];
  for (let number = 1; number <= document.numPages; number += 1) {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    pages.push({ rotate: page.rotate, text: items.map((item) => ('str' in item ? item.str : '')).join('') });
  }
  const { info } = await document.getMetadata();
  const permissions = await document.getPermissions();
  await task.destroy();
  return { pages, info, permissions };
}

const three = makePdf(numberedPages(3));
const PRINT = 4;
const COPY = 16;

describe('qpdf', () => {
  it('encrypts with AES-256 and restricts what the user password allows', async () => {
    const encrypt = { userPassword: 'öffne', permissions: { print: 'none', extract: false } } as const;

    const { bytes } = await edit(three, { encrypt });

    expect(bytes.toString('latin1')).toMatch(/\/CFM \/AESV3.*\/R 6 /s);
    await expect(read(bytes)).rejects.toThrow(/password/i);
    const { pages, permissions } = await read(bytes, 'öffne');
    expect(pages.map(({ text }) => text)).toEqual(['Page 1', 'Page 2', 'Page 3']);
    expect(permissions).not.toContain(PRINT);
    expect(permissions).not.toContain(COPY);
  });

  it('removes encryption', async () => {
    const locked = makePdf(numberedPages(1), { password: 'secret' });

    const { bytes } = await edit(locked, { password: 'secret', decrypt: true });

    expect((await read(bytes)).pages).toEqual([{ rotate: 0, text: 'Page 1' }]);
  });

  it('selects pages in the given order and rotates them', async () => {
    const { bytes, pageCount } = await edit(three, { pages: [3, 1], rotate: -90 });

    expect(pageCount).toBe(2);
    expect((await read(bytes)).pages).toEqual([
      { rotate: 270, text: 'Page 3' },
      { rotate: 270, text: 'Page 1' },
    ]);
  });

  it('sets the document information', async () => {
    const information = { Title: 'Łódź "(1)"\\', Author: '東京' };

    const { bytes } = await edit(three, { information });

    expect((await read(bytes)).info).toMatchObject(information);
  });

  it('linearizes, compresses and raises the version', async () => {
    const { bytes } = await edit(three, { linearize: true, compress: true, minVersion: '1.7' });

    expect(bytes.toString('latin1', 0, 200)).toMatch(/^%PDF-1\.7.*\/Linearized 1/s);
    expect(bytes.includes('/ObjStm')).toBe(true);
    expect((await read(bytes)).pages).toHaveLength(3);
  });

  it('compresses alike after another result was compressed more', async () => {
    const lines = Array.from({ length: 4000 }, (_, index) => `${(index * 7919) % 997} ${index % 61} m`);
    const long = makePdf([{ content: lines.join('\n') }]);
    const before = await edit(long, {});

    await edit(long, { recompress: true });
    const after = await edit(long, {});

    expect(after.bytes.length).toBe(before.bytes.length);
  });

  it('changes objects in object streams', async () => {
    const { bytes } = await edit(makePdf(numberedPages(350)), { compress: true });
    const graph = JSON.parse((await edit(bytes, { json: 'objects' })).bytes.toString());
    const pages = Object.entries<{ value?: Record<string, unknown> }>(graph.qpdf[1]).filter(
      ([, { value }]) => value?.['/Type'] === '/Page',
    );
    // The pages that do not change are read from the object streams of the others.
    const changed = pages
      .filter((_, index) => index % 50 > 0)
      .map(([name, { value }]) => [name, { value: { ...value, '/Rotate': 90 } }]);
    const header = { ...graph.qpdf[0], calledgetallpages: false, pushedinheritedpageresources: false };
    const update = JSON.stringify({ qpdf: [header, Object.fromEntries(changed)] });

    const updated = await edit(bytes, {}, update);

    const unchanged = (await read(updated.bytes)).pages.filter(({ rotate }) => rotate !== 90);
    expect(unchanged).toHaveLength(7);
  });

  it('updates the result of other changes', async () => {
    const graph = JSON.parse((await edit(three, { pages: [3, 1], json: 'objects' })).bytes.toString());
    const [header, objects] = graph.qpdf;
    const [name, { value }] = Object.entries<{ value: { '/Kids': string[] } }>(objects).find(
      ([, { value: each }]) => each?.['/Kids'],
    )!;
    const tree = { value: { ...value, '/Kids': value['/Kids'].slice(0, 1), '/Count': 1 } };

    const update = JSON.stringify({ qpdf: [header, { [name]: tree }] });
    const { bytes, pageCount } = await edit(three, { pages: [3, 1], linearize: true }, update);

    expect(pageCount).toBe(1);
    expect((await read(bytes)).pages).toMatchObject([{ text: 'Page 3' }]);
  });

  it.each([
    ['PASSWORD_REQUIRED', makePdf(numberedPages(1), { password: 'secret' }), undefined],
    ['WRONG_PASSWORD', makePdf(numberedPages(1), { password: 'secret' }), 'other'],
    ['CORRUPT_SOURCE', Buffer.from('%PDF-1.7\nnothing'), undefined],
  ] as const)('reports %s and works on', async (code, bytes, password) => {
    await expect(edit(bytes, { password })).rejects.toMatchObject({ code });

    expect((await edit(three, {})).pageCount).toBe(3);
  });

  it('cannot write outside the conversions and its own directory', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'outside-'));
    onTestFinished(() => rm(outside, { recursive: true }));
    const target = join(outside, 'x.pdf');
    const request = { account: 'test', directory: temporary, signal: AbortSignal.timeout(120_000) };
    const path = join(temporary, 'three.pdf');
    await writeFile(path, three);

    await expect(qpdf.edit({ path }, target, {}, request)).rejects.toThrow();

    await expect(readFile(target)).rejects.toThrow();
  });
});
