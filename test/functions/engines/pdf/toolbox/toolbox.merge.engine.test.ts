import { inflateSync } from 'node:zlib';
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createEngine } from '../../../../../functions/pdftools/convert.ts';
import { pdftools } from '../../../../../functions/pdftools/tool.ts';
import { documentPdf, makePdf, numberedPages } from '../../../../fixtures/pdf.ts';
import { readPdf } from '../../../../helpers/pdf.ts';
import { startEngine } from '../../../../lab/engine.ts';
import { sharedGuard, useEngine } from '../../../conversion.ts';
import { serveFiles } from '../../../serve-files.ts';

const { convert, convertOne, refusal } = useEngine(pdftools, createEngine);
const A = documentPdf('A', 3);
const url = await serveFiles({
  'b.pdf': documentPdf('B', 2),
  'inline.pdf': Buffer.from(
    documentPdf('C', 1)
      .toString('latin1')
      .replace('11 0 R]>>', '<</Type/Filespec/F(note.txt)/EF<</F 12 0 R>>>>(none)null]>>'),
    'latin1',
  ),
  'fields.pdf': withAppearance('B'),
  'plain.pdf': plainPdf(3),
  'form.pdf': makePdf(numberedPages(3)),
  'locked.pdf': makePdf(numberedPages(1), { password: 'secret' }),
  'letter.docx': Buffer.from('PK\x03\x04      [Content_Types].xml', 'latin1'),
  'noise.bin': Buffer.from('\x01\x02\x03'),
});
const APPEND = `-append=${url('b.pdf')}`;

/** A document without a form. */
function plainPdf(count: number): Buffer {
  const text = makePdf(numberedPages(count)).toString('latin1');
  return Buffer.from(
    text.replace('/AcroForm << /Fields [] >>', (form) => ' '.repeat(form.length)),
    'latin1',
  );
}

/** A document with a field whose appearance names the form's font. */
function withAppearance(title: string): Buffer {
  const content = `BT /F 12 Tf 2 5 Td (value ${title}) Tj ET`;
  const form = `<</Type/XObject/Subtype/Form/BBox[0 0 160 20]/Resources<</Font<</F 3 0 R>>>>/Length ${content.length}>>`;
  const document = documentPdf(title, 1).toString('latin1');
  return Buffer.from(
    document
      .replace('/DA(/F 12 Tf)>>\n', '/DA(/F 12 Tf)/AP<</N 13 0 R>>>>\n')
      .replace('13 0 obj\nnull', `13 0 obj\n${form}\nstream\n${content}\nendstream`),
    'latin1',
  );
}

/** Returns the appearances of fields in the order of their texts. */
function appearancesIn(pdf: Buffer): string[] {
  const streams = pdf.toString('latin1').matchAll(/stream\r?\n(.*?)\r?\nendstream/gs);
  const texts = [...streams].map(([, data]) => {
    try {
      return inflateSync(Buffer.from(data!, 'latin1')).toString('latin1');
    } catch {
      return data!;
    }
  });
  return texts.filter((text) => /^BT .*\(value /.test(text)).toSorted();
}

/** Reads what refers to pages. Pages count from 0. */
async function navigationOf(bytes: Buffer) {
  const document = await getDocument({ data: new Uint8Array(bytes), verbosity: 0 }).promise;
  const pageOf = async (destination: unknown) => {
    const found = typeof destination === 'string' ? await document.getDestination(destination) : destination;
    return document.getPageIndex((found as [{ num: number; gen: number }])[0]);
  };
  const outline = (await document.getOutline()) ?? [];
  const links = [];
  const fields: string[] = [];
  for (let number = 1; number <= document.numPages; number += 1) {
    for (const annotation of await (await document.getPage(number)).getAnnotations()) {
      if (annotation.subtype === 'Link' && annotation.dest) links.push(await pageOf(annotation.dest));
      else if (annotation.fieldName) fields.push(`${annotation.fieldName}=${annotation.fieldValue}`);
    }
  }
  const layers = await document.getOptionalContentConfig();
  const attached = [...((await document.getAttachments()) ?? [])].map(([, { filename }]) => filename);
  return {
    outline: await Promise.all(outline.map(async ({ title, dest }) => [title, await pageOf(dest)])),
    links,
    fields,
    end: await pageOf('end'),
    labels: await document.getPageLabels(),
    attached,
    visible: [...layers].map(([, { name, visible }]) => [name, visible]),
  };
}

describe('-append', () => {
  it('keeps outlines, links, fields, labels, layers and attached files of all documents', async () => {
    const merged = await convertOne(A, { format: 'pdf', options: APPEND });

    expect((await readPdf(merged)).pages.map(({ text }) => text.slice(0, 8))).toEqual([
      'A page 1',
      'A page 2',
      'A page 3',
      'B page 1',
      'B page 2',
    ]);
    expect(await navigationOf(merged)).toEqual({
      outline: [
        ['A first', 0],
        ['A last', 2],
        ['B first', 3],
        ['B last', 4],
      ],
      links: [2, 2, 4, 4],
      fields: ['name=value A', 'name+1=value B'],
      end: 2,
      labels: ['A-1', 'A-2', 'A-3', 'B-1', 'B-2'],
      attached: ['note (2).txt', 'note.txt'],
      visible: [
        ['Layer A', false],
        ['Layer B', false],
      ],
    });
  });

  it('selects, orders and rotates pages of the merged document', async () => {
    const { files, pageCount } = await convert(A, {
      format: 'pdf',
      options: `${APPEND} -pages=5,1 -rotate=90:1`,
    });

    const { pages } = await readPdf(files[0]!);
    expect(pages.map(({ width, text }) => [width, text.slice(0, 8)])).toEqual([
      [200, 'B page 2'],
      [300, 'A page 1'],
    ]);
    expect(pageCount).toBe(5);
    expect(await navigationOf(files[0]!)).toMatchObject({
      outline: [
        ['A first', 1],
        ['B last', 0],
      ],
      end: 0,
    });
  });

  it('draws the merged pages, numbered as in the merged document', async () => {
    const { pages } = await convert(A, {
      format: 'png',
      delivery: 'paged',
      options: `${APPEND} -pages=4- -r=20`,
    });

    expect(pages).toEqual([4, 5]);
  });

  it.each([
    ['locked.pdf', 'PASSWORD_REQUIRED', /^The file for '-append' could not be read\. .*-upw/],
    ['letter.docx', 'UNSUPPORTED_SOURCE', /app=doc2any first/],
    ['noise.bin', 'UNSUPPORTED_SOURCE', /neither a PDF nor/],
    ['missing.pdf', 'SOURCE_STATUS', /^The file for '-append' could not be loaded/],
  ])('of %s fails with %s', async (name, code, message) => {
    const error = await refusal(A, { format: 'pdf', options: `-append=${url(name)}` });

    expect(error).toMatchObject({ code, parameter: '-append', message: expect.stringMatching(message) });
  });

  it.each([
    ['pages', { pages: 4 }, /All sources together have 5 pages\. The maximum is 4\./],
    ['bytes', { sourceBytes: A.length + 10 }, /All sources together exceed the limit/],
  ])('counts the %s of all sources', async (_, limits, message) => {
    const error = await refusal(A, { format: 'pdf', options: APPEND, limits });

    expect(error).toMatchObject({ code: 'SOURCE_TOO_LARGE', message: expect.stringMatching(message) });
  });
});

it('keeps the fonts of fields when it merges and linearizes', async () => {
  const first = withAppearance('A');
  const other = url('fields.pdf');

  const plain = await convertOne(first, { format: 'pdf', options: `-append=${other}` });
  const linearized = await convertOne(first, { format: 'pdf', options: `-append=${other} -linearize` });

  expect(appearancesIn(plain)).toHaveLength(2);
  expect(appearancesIn(linearized)).toEqual(appearancesIn(plain));
});

it.each([
  ['of pages', plainPdf(2), 'plain.pdf', 3],
  ['with a form', plainPdf(2), 'form.pdf', 4],
  ['with bookmarks, layers and files', A, 'b.pdf', 9],
])('merges documents %s in few steps', async (_, source, name, expected) => {
  let steps = 0;
  const waiting = (change: number) => {
    if (change > 0) steps += change;
  };
  const engine = await startEngine(pdftools, createEngine, { egress: sharedGuard, observer: { waiting } });
  onTestFinished(engine.close);

  await engine.convertOne(source, { format: 'pdf', options: `-append=${url(name)}` });

  expect(steps).toBe(expected);
});

it('warns of a signature that is no field', async () => {
  const document = documentPdf('A', 1).toString('latin1');
  const signed = document
    .replace('/Type/Catalog', '/Type/Catalog/Other 13 0 R')
    .replace('13 0 obj\nnull', '13 0 obj\n<</Type/Sig/ByteRange[0 10 20 10]>>');

  const { warnings } = await convert(Buffer.from(signed, 'latin1'), { format: 'pdf', options: APPEND });

  expect(warnings).toEqual([expect.stringMatching(/signatures/)]);
});

it('does not show a panel for attached files if there are none', async () => {
  const merged = await convertOne(plainPdf(1), {
    format: 'pdf',
    options: `-append=${url('plain.pdf')} --pdf-version=PDF/A-1b -force`,
  });

  expect(merged.includes('/UseAttachments')).toBe(false);
});

it('merges attached files that are no objects of their own', async () => {
  const { files } = await convert(A, { format: 'pdf', options: `-append=${url('inline.pdf')}` });

  expect((await navigationOf(files[0]!)).attached).toEqual(['note (2).txt', 'note.txt']);
});

describe('-split', () => {
  it('writes a number of pages into each file', async () => {
    const { files, pages } = await convert(A, { format: 'pdf', delivery: 'paged', options: '-split=2' });

    const texts = await Promise.all(files.map(async (file) => (await readPdf(file)).pages.length));
    expect([texts, pages]).toEqual([
      [2, 1],
      [1, 2],
    ]);
  });

  it('requires several files', async () => {
    const error = await refusal(A, { format: 'pdf', options: '-split=2' });

    expect(error).toMatchObject({ code: 'BAD_PARAMETER', parameter: '-split' });
  });
});
