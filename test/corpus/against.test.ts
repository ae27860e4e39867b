import { expect, it } from 'vitest';
import { makePdf, numberedPages } from '../fixtures/pdf.ts';
import type { CompleteOffice } from '../soffice/convert.ts';
import { convertedElsewhere } from './result.ts';

/** An office that converts every document to the same PDF, and the paths it was given. */
function officeMaking(pdf: Buffer | undefined) {
  const paths: string[] = [];
  const convert = async (path: string) => {
    paths.push(path);
    return pdf;
  };
  const office: CompleteOffice = { convert, convertTo: convert, close: async () => undefined };
  return { office, paths };
}

const damaged = { kind: 'error', code: 'CORRUPT_SOURCE', message: 'It may be damaged.' } as const;

it('reports a document that only the complete office converts', async () => {
  const { office, paths } = officeMaking(makePdf(numberedPages(2)));

  const found = await convertedElsewhere(office, '/a.docx', damaged);

  expect(found).toMatch(/2 pages.*CORRUPT_SOURCE: It may be damaged\./);
  expect(paths).toEqual(['/a.docx']);
});

it.each([
  ['nothing', undefined],
  ['a file that is no PDF', Buffer.from('nothing')],
])('accepts a document of which it makes %s', async (_, pdf) => {
  expect(await convertedElsewhere(officeMaking(pdf).office, '/a.docx', damaged)).toBeUndefined();
});

it.each([
  { kind: 'ok' },
  { kind: 'error', code: 'PASSWORD_REQUIRED', message: 'Encrypted.' },
  { kind: 'wrong', reason: 'blank' },
] as const)('asks it nothing about %j', async (outcome) => {
  const { office, paths } = officeMaking(makePdf(numberedPages(1)));

  expect(await convertedElsewhere(office, '/a.docx', outcome)).toBeUndefined();
  expect(paths).toEqual([]);
});
