import { expect, it } from 'vitest';
import { doc2any } from '../../../../functions/doc2any/tool.ts';
import { exportOptions, loadOptions } from '../../../../functions/engines/office/filter-options.ts';
import { columns } from '../../../../functions/engines/office/options.ts';
import { defaultsOf } from '../../../../functions/shared/options/read-options.ts';

it.each([
  ['1.5', 15, false],
  ['1.7', 17, false],
  ['2.0', 20, false],
  ['PDF/A-1b', 1, false],
  ['PDF/A-2b', 2, false],
  ['PDF/A-3b', 3, false],
  ['PDF/UA', 17, true],
] as const)('exports a PDF of version %s', (version, number, isAccessible) => {
  const options = { ...defaultsOf(doc2any.options), pdfVersion: version };

  expect(JSON.parse(exportOptions(options, undefined))).toMatchObject({
    SelectPdfVersion: { value: String(number) },
    PDFUACompliance: { value: String(isAccessible) },
  });
});

it.each([
  ['2,4-5', '2/2/4/2/5/2'],
  ['none', ''],
])('reads the columns %s as text', (text, formats) => {
  const options = loadOptions({ batch: false, separator: ';', textColumns: columns(text) });

  expect(options.split(',').slice(3, 6)).toEqual(['1', formats, '0']);
});

it.each(['', 'a', '0', '3-2', '1025', '1,', '1-99999'])('rejects the columns "%s"', (text) => {
  expect(columns(text)).toBeUndefined();
});
