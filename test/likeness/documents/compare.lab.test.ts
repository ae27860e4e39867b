import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngine } from '../../../functions/doc2any/convert.ts';
import { CODE } from '../../../infra/local/server/temporary.ts';
import { engineNetwork } from '../../helpers/engine-network.ts';
import { startCompleteOffice } from '../../soffice/convert.ts';
import { compareFormat, comparePdf, judge, type Sides } from './compare.ts';

const fixture = (name: string) => join(import.meta.dirname, '../../fixtures/office', name);

let sides: Sides;

// Unpacks a complete LibreOffice the first time.
beforeAll(async () => {
  const temporary = await mkdtemp(join(tmpdir(), 'docmill-likeness-'));
  const layers = resolve('dist/layers');
  const engine = createEngine({ layers, code: CODE, temporary, size: 1, ...engineNetwork() });
  sides = { engine, office: await startCompleteOffice(), temporary };
}, 600_000);

afterAll(async () => {
  await Promise.all([sides.engine.close(), sides.office.close()]);
  await rm(sides.temporary, { recursive: true, maxRetries: 5 });
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

  expect(await judge(text, comment)).toBe('pages');
  expect(await judge(comment, formula)).toBe('text');
  expect(await judge(text, text)).toBe('same');
});

it('tells that neither side has a result', async () => {
  expect(await comparePdf(sides, fixture('damaged.docx'), '')).toBe('neither');
});
