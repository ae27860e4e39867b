import { expect, it } from 'vitest';
import { blankPdf } from '../../../../functions/engines/pdf/rewrite.ts';
import { createEngine } from '../../../../functions/pdftools/convert.ts';
import { pdftools } from '../../../../functions/pdftools/tool.ts';
import { documentPdf, makePdf } from '../../../fixtures/pdf.ts';
import { useEngine } from '../../conversion.ts';

const { convertOne, refusal } = useEngine(pdftools, createEngine);
const describePdf = async (pdf: Buffer) =>
  JSON.parse((await convertOne(pdf, { format: 'json' })).toString()) as object;

it.each([
  ['PDF/A-1b', '1.4'],
  ['PDF/A-2u', '1.7'],
  ['PDF/A-3b', '1.7'],
  ['PDF/A-4', '2.0'],
])('makes a numbered document %s', async (standard, version) => {
  const pdf = await convertOne(blankPdf(2), {
    format: 'pdf',
    options: `--pdf-version=${standard} -number=%p -metadata=Title:T`,
  });

  expect(await describePdf(pdf)).toMatchObject({
    claims: [standard],
    pageCount: 2,
    fonts: [{ isEmbedded: true }],
  });
  expect(pdf.toString('latin1', 0, 8)).toBe(`%PDF-${version}`);
});

it.each(['PDF/A-1b', 'PDF/A-2b'])(
  'keeps the form that %s requires when pages are turned',
  async (standard) => {
    const options = `--pdf-version=${standard} -number=%p`;
    const archived = await convertOne(blankPdf(2), { format: 'pdf', options });

    const turned = await convertOne(archived, { format: 'pdf', options: '-rotate=90' });

    const text = turned.toString('latin1');
    expect(await describePdf(turned)).toMatchObject({ claims: [standard] });
    expect(text.match(/endstream/g)?.length).toBe(text.match(/\nendstream/g)?.length);
    expect(text.includes('/ObjStm')).toBe(standard !== 'PDF/A-1b');
  },
);

it('drops the claim of a document that is changed', async () => {
  const options = '--pdf-version=PDF/A-2b -number=%p';
  const archived = await convertOne(blankPdf(1), { format: 'pdf', options });

  const changed = await convertOne(archived, { format: 'pdf', options: '-number=%p' });

  expect(await describePdf(changed)).toMatchObject({ claims: [] });
});

it('names each obstacle, and writes the document without the claim if it is forced', async () => {
  const source = documentPdf('A', 1);
  const error = await refusal(source, { format: 'pdf', options: '--pdf-version=PDF/A-2b' });

  expect(error).toMatchObject({
    code: 'CONVERSION_FAILED',
    parameter: '--pdf-version',
    message: expect.stringContaining('The font Helvetica is not embedded.'),
  });
  expect(error.issues?.map(({ message }) => message)).toContain('The font Helvetica is not embedded.');
  const options = '--pdf-version=PDF/A-2b -force -linearize';
  const forced = await convertOne(source, { format: 'pdf', options });
  expect(await describePdf(forced)).toMatchObject({ claims: [], isLinearized: true });
});

it('cannot make an encrypted document PDF/A', async () => {
  expect(
    await refusal(makePdf([{}]), { format: 'pdf', options: '--pdf-version=PDF/A-2b -encrypt=secret' }),
  ).toMatchObject({ code: 'BAD_PARAMETER', parameter: '--pdf-version' });
});
