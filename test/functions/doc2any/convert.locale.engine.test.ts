import { expect, it } from 'vitest';
import { createEngine } from '../../../functions/doc2any/convert.ts';
import { doc2any } from '../../../functions/doc2any/tool.ts';
import type { EngineDependencies } from '../../../functions/shared/tool.ts';
import { useEngine } from '../conversion.ts';
import { makeXlsx } from '../engines/office/detect/archives.ts';
import { readPdf } from '../engines/office/read-pdf.ts';

const { convertOne } = useEngine(doc2any, (dependencies) =>
  createEngine({ ...(dependencies as EngineDependencies), locale: 'fr-FR' }),
);

/** A workbook with December 5, 2023 in Excel's built-in short format. */
const workbook = makeXlsx('<row r="1"><c r="A1" s="0"><v>45265</v></c></row>', {
  formats: [14],
  more: '<mergeCells count="1"><mergeCell ref="A1:C1"/></mergeCells>',
});
const rtf = (language: string) =>
  Buffer.from(`{\\rtf1\\deflang${language} \\trowd\\cellx4000 1.5\\cell\\row}`);

const textOf = async (source: Buffer, name: string, options = '') => {
  const [page] = await readPdf(await convertOne(source, { format: 'pdf', name, options }));
  return page!.text;
};

it('writes dates in the locale of the document, the caller or the service, in any order', async () => {
  const dates: string[] = [];
  for (const options of ['--locale=de-DE', '', '--locale=ja-JP', '--locale=de-DE', '--locale=en-US', ''])
    dates.push(await textOf(workbook, 'a.xlsx', options));

  const expected = ['05.12.2023', '05/12/2023', '2023/12/05', '05.12.2023', '12/5/2023', '05/12/2023'];
  expect(dates.map((text) => text.trim())).toEqual(expected.map((date) => expect.stringContaining(date)));
});

it('opens a document whose name has letters beyond ASCII in another locale', async () => {
  expect(await textOf(rtf('1031'), 'Übersicht 日本.rtf')).toContain('1.5');
});
