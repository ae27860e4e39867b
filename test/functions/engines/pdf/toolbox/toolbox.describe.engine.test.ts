import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { createEngine } from '../../../../../functions/pdftools/convert.ts';
import { pdftools } from '../../../../../functions/pdftools/tool.ts';
import { documentPdf, formPdf, makePdf } from '../../../../fixtures/pdf.ts';
import { useEngine } from '../../../conversion.ts';

const { convertOne, refusal } = useEngine(pdftools, createEngine);
const schema = JSON.parse(
  readFileSync(resolve('functions/pdftools/description.schema.json'), 'utf8'),
) as object;
const validate = new Ajv2020().compile(schema);

/** Describes a PDF, and checks the description against its schema. */
async function describePdf(source: Buffer, options = '') {
  const described: unknown = JSON.parse((await convertOne(source, { format: 'json', options })).toString());
  expect(validate(described), JSON.stringify(validate.errors)).toBe(true);
  return described;
}

it('describes pages, fonts, outline, attached files and layers', async () => {
  expect(await describePdf(documentPdf('A', 2))).toMatchObject({
    pageCount: 2,
    pages: [
      { number: 1, width: 300, height: 200, rotation: 0, label: 'A-1' },
      { number: 2, label: 'A-2' },
    ],
    fonts: [{ name: 'Helvetica', type: 'Type1', isEmbedded: false, pages: [1, 2] }],
    outline: [
      { title: 'A first', page: 1 },
      { title: 'A last', page: 2 },
    ],
    fields: [{ name: 'name', kind: 'text', value: 'value A' }],
    attachments: [{ name: 'note.txt' }],
    encryption: null,
  });
});

it('describes form fields with their options', async () => {
  expect(await describePdf(formPdf())).toMatchObject({
    fields: [
      { name: 'name', kind: 'text', value: null },
      { name: 'agree', kind: 'checkbox', options: ['Off', 'Yes'] },
      { name: 'color', kind: 'choice', options: ['red', 'g'] },
      { name: 'person.email', kind: 'text' },
    ],
  });
});

it('describes the encryption and only selected pages', async () => {
  const locked = makePdf([{}, { width: 100, height: 50, rotate: 90 }], { password: 'secret' });

  expect(await describePdf(locked, '-upw=secret -pages=2')).toMatchObject({
    pageCount: 2,
    pages: [{ number: 2, width: 50, height: 100, rotation: 90 }],
    encryption: { bits: 40, method: 'RC4' },
  });
});

it('refuses what is not a PDF', async () => {
  expect(await refusal(Buffer.from('text'), { format: 'json' })).toMatchObject({
    code: 'UNSUPPORTED_SOURCE',
  });
});
