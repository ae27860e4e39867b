import { expect, it } from 'vitest';
import { Pdf, type PdfPrograms } from '../../../../functions/engines/pdf/pdf.ts';
import type { Edit } from '../../../../functions/engines/pdf/qpdf.ts';

/** Returns a PDF that has a password, and the edits that qpdf would make. */
function open() {
  const edits: Edit[] = [];
  const qpdf = {
    edit: async (_source: unknown, _target: string, edit: Edit) => {
      edits.push(edit);
      return { pageCount: 1, isPlain: false };
    },
  };
  const request = { account: 'test', signal: new AbortController().signal, directory: '/work' };
  const pdf = new Pdf({ qpdf } as unknown as PdfPrograms, { path: '/work/a.pdf', password: 'a' }, request);
  return { pdf, edits };
}

it('writes changes that follow each other in one pass', async () => {
  const { pdf, edits } = open();
  const merged = await pdf.plan({ merge: [], rotate: 90 });
  const updated = await merged.plan({ update: 'changes.json', information: { Title: 'A' }, flatten: false });

  const { password } = await updated.edit({ compress: true });

  expect(edits).toEqual([
    {
      ...{ merge: [], rotate: 90, update: 'changes.json', information: { Title: 'A' } },
      ...{ flatten: false, compress: true },
    },
  ]);
  expect(password).toBeUndefined();
});

it.each([
  [{ update: 'changes.json', flatten: true }, { update: 'changes.json' }, { flatten: true }],
  [{ pages: [1] }, {}, { pages: [1] }],
  // qpdf would change the appearances of merged fields only in the first of two passes.
  [{ linearize: true }, {}, { linearize: true }],
])('writes planned changes before %j', async (changes, before, after) => {
  const { pdf, edits } = open();

  await (await pdf.plan({ rotate: 90 })).edit(changes);

  expect(edits).toEqual([{ rotate: 90, ...before }, after]);
});

it('writes an update before pages change', async () => {
  const { pdf, edits } = open();

  await pdf.edit({ update: 'changes.json', pages: [1] });

  expect(edits).toEqual([{ update: 'changes.json' }, { pages: [1] }]);
});

it('is not used before it is written', async () => {
  const planned = await open().pdf.plan({ update: 'changes.json' });

  expect(() => planned.path).toThrow('not written');
  await expect(planned.plan({ update: 'more.json' })).rejects.toThrow('must be written');
});
