import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngine } from '../../functions/doc2any/convert.ts';
import { doc2any } from '../../functions/doc2any/tool.ts';
import { startEngine } from '../lab/engine.ts';
import { startCompleteOffice } from '../soffice/convert.ts';
import { compareFormat, comparePdf, judge, type Sides } from './documents.ts';

const fixture = (name: string) => join(import.meta.dirname, '../fixtures/office', name);

let sides: Sides;

// Unpacks a complete LibreOffice the first time.
beforeAll(async () => {
  const engine = await startEngine(doc2any, createEngine, { size: 1 });
  sides = { engine, office: await startCompleteOffice() };
}, 600_000);

afterAll(async () => {
  await Promise.all([sides.engine.close(), sides.office.close()]);
});

describe('doc2any makes what a complete LibreOffice makes', () => {
  it.each([
    ['text.docx', ''],
    ['comment.docx', '--comments'],
    ['formula.docx', '--pdf-version=PDF/A-2b'],
    ['text.rtf', '--watermark=DRAFT'],
    ['table.csv', ''],
    ['sheet.xlsx', '--fit=sheet'],
    ['slides.pptx', '--notes'],
    ['hidden-second.pptx', '--hidden-slides'],
  ])('of %s with "%s"', async (name, options) => {
    expect(await comparePdf(sides, fixture(name), options)).toBe('same');
  });

  it.each([
    ['text.odt', 'docx'],
    ['formula.odt', 'rtf'],
    ['text.docx', 'html'],
    ['sheet.xls', 'csv'],
    ['sheet.ods', 'xlsx'],
    ['slides.ppt', 'odp'],
  ] as const)('of %s as %s', async (name, format) => {
    expect(await compareFormat(sides, fixture(name), format)).toBe('same');
  });
});

it('tells different documents apart', async () => {
  const convert = async (name: string) => (await sides.office.convert(fixture(name)))!;
  const [text, comment, formula] = [
    await convert('text.docx'),
    await convert('comment.docx'),
    await convert('formula.docx'),
  ];

  expect(await judge(text, comment)).toBe('other page count');
  expect(await judge(comment, formula)).toBe('other text');
  expect(await judge(text, text)).toBe('same');
});

it('tells that neither side has a result', async () => {
  expect(await comparePdf(sides, fixture('damaged.docx'), '')).toBe('neither');
});
