import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { ContentInfo, SignedData } from 'pkijs';
import { afterAll, expect, it } from 'vitest';
import { readIdentity } from '../../../functions/engines/pdf/sign.ts';
import { createEngine } from '../../../functions/pdftools/convert.ts';
import { pdftools } from '../../../functions/pdftools/tool.ts';
import { accountOfIp } from '../../../functions/platform/accounts.ts';
import { makePdf, numberedPages } from '../../fixtures/pdf.ts';
import { useOwnEngine } from '../conversion.ts';

const signers = await mkdtemp(join(tmpdir(), 'signers-'));
await copyFile(new URL('../../fixtures/signer.p12', import.meta.url), join(signers, 'office.p12'));
await writeFile(join(signers, 'office.txt'), 'secret\n');
await writeFile(join(signers, 'office.accounts'), '*\n');
afterAll(() => rm(signers, { recursive: true }));

const { convertOne, refusal } = useOwnEngine(pdftools, (dependencies) =>
  createEngine({ ...dependencies, signers }),
);
const two = makePdf(numberedPages(2));

/** Returns for each signature whether it is valid, and the number of bytes after those that it covers. */
async function signaturesOf(pdf: Buffer) {
  const ranges = pdf.toString('latin1').matchAll(/\/ByteRange \[0 (\d+) (\d+) (\d+)\]/g);
  const found = [...ranges].map((match) => match.slice(1).map(Number) as [number, number, number]);
  return Promise.all(
    found.map(async ([at, end, length]) => {
      const data = Buffer.concat([pdf.subarray(0, at), pdf.subarray(end, end + length)]);
      const cms = Uint8Array.from(Buffer.from(pdf.toString('latin1', at + 1, end - 1), 'hex'));
      const signed = new SignedData({ schema: ContentInfo.fromBER(cms.buffer).content });
      const isValid = await signed.verify({ signer: 0, data: Uint8Array.from(data).buffer });
      return { isValid, rest: pdf.length - end - length };
    }),
  );
}

it('signs after all other steps, and keeps earlier signatures valid', async () => {
  const once = await convertOne(two, {
    format: 'pdf',
    options: '-number=%p -sign=office -sign-reason=Approved',
  });
  const twice = await convertOne(once, { format: 'pdf', options: '-sign=office' });

  expect(await signaturesOf(once)).toEqual([{ isValid: true, rest: 0 }]);
  expect(await signaturesOf(twice)).toEqual([
    { isValid: true, rest: twice.length - once.length },
    { isValid: true, rest: 0 },
  ]);
  const { signatures } = JSON.parse(String(await convertOne(once, { format: 'json' })));
  expect(signatures).toMatchObject([{ signer: 'Test Signer' }]);
  const document = await getDocument({ data: new Uint8Array(twice), verbosity: 0 }).promise;
  const fields = Object.values((await document.getFieldObjects())!).flat();
  expect(fields.map((field) => 'type' in field && field.type)).toEqual(['signature', 'signature']);
  await document.loadingTask.destroy();
});

it.each(['-linearize', '--pdf-version=PDF/A-2b', '-optimize=print'])(
  'signs a document with %s',
  async (option) => {
    const blank = makePdf([{}]);
    const signed = await convertOne(blank, { format: 'pdf', options: `${option} -sign=office` });

    expect(await signaturesOf(signed)).toEqual([{ isValid: true, rest: 0 }]);
  },
);

it('refuses unknown signers, and encryption', async () => {
  expect(await refusal(two, { format: 'pdf', options: '-sign=nobody' })).toMatchObject({
    code: 'BAD_PARAMETER',
    message: "Parameter '-sign': this account has no signer 'nobody'.",
  });
  expect(await refusal(two, { format: 'pdf', options: '-sign=office -encrypt=x' })).toMatchObject({
    code: 'BAD_PARAMETER',
    parameter: '-sign',
  });
});

it.each([
  ['', []],
  ['one\n', ['one']],
  ['one\ntwo\n', ['one', 'two']],
  ['*\n', ['one', 'two', 'three']],
])('gives a signer to the accounts %j', async (list, expected) => {
  await copyFile(join(signers, 'office.p12'), join(signers, 'few.p12'));
  await writeFile(join(signers, 'few.txt'), 'secret\n');
  await rm(join(signers, 'few.accounts'), { force: true });
  if (list !== '') await writeFile(join(signers, 'few.accounts'), list);

  const allowed: string[] = [];
  for (const account of ['one', 'two', 'three', accountOfIp('1.2.3.4')])
    await readIdentity(signers, 'few', account).then(
      () => allowed.push(account),
      () => {},
    );

  expect(allowed).toEqual(expected);
  await expect(readIdentity(signers, 'other', 'one')).rejects.toMatchObject({ code: 'BAD_PARAMETER' });
  await expect(readIdentity(undefined, 'few', 'one')).rejects.toMatchObject({ code: 'BAD_PARAMETER' });
});
