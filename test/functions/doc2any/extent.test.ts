import { expect, it } from 'vitest';
import { createEngine } from '../../../functions/doc2any/convert.ts';
import { doc2any } from '../../../functions/doc2any/tool.ts';
import type { EngineDependencies } from '../../../functions/shared/tool.ts';
import { useEngine } from '../conversion.ts';

const { convert, convertOne, refusal } = useEngine(doc2any, (dependencies) =>
  createEngine(dependencies as EngineDependencies),
);

/** A sheet with a number in its first cell and in the one that lies so many columns and rows after it. */
function sheet(columns: number, rows: number): Buffer {
  const namespaces = ['office', 'table', 'text']
    .map((name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
    .join(' ');
  const cell = (value: number) =>
    `<table:table-cell office:value-type="float" office:value="${value}"><text:p>${value}</text:p></table:table-cell>`;
  const gap = (name: string, count: number) =>
    count > 0
      ? `<table:${name} table:number-${name === 'table-row' ? 'rows' : 'columns'}-repeated="${count}"`
      : '';
  const emptyRows = rows > 1 ? `${gap('table-row', rows - 1)}><table:table-cell/></table:table-row>` : '';
  const emptyCells = columns > 0 ? `${gap('table-cell', columns)}/>` : '';
  return Buffer.from(
    `<?xml version="1.0"?><office:document ${namespaces} office:version="1.3"` +
      ' office:mimetype="application/vnd.oasis.opendocument.spreadsheet"><office:body><office:spreadsheet>' +
      `<table:table table:name="Far"><table:table-row>${cell(1)}</table:table-row>${emptyRows}` +
      `<table:table-row>${emptyCells}${cell(2)}</table:table-row></table:table>` +
      '</office:spreadsheet></office:body></office:document>',
  );
}

it.each([
  ['a million rows', 0, 1_000_000],
  ['sixteen thousand columns', 16_000, 1],
  ['seven hundred columns and a hundred thousand rows', 700, 100_000],
])('prints the two pages of a sheet whose cells lie %s apart', async (_, columns, rows) => {
  const { pageCount } = await convert(sheet(columns, rows), { format: 'pdf' });

  expect(pageCount).toBe(2);
});

it.each([
  ['pdf', ''],
  ['pdf', '--fit=sheet'],
  ['pdf', '--fit=width'],
  ['csv', ''],
] as const)('rejects a sheet that would take minutes or gigabytes: %s %s', async (format, options) => {
  const error = await refusal(sheet(16_383, 1_048_575), { format, options });

  expect(error).toMatchObject({
    code: 'RESULT_TOO_LARGE',
    message: 'Sheet 1 extends to cell XFD1048576, which is too far for this output format.',
  });
});

it('converts such a sheet to a format that can be edited', async () => {
  const [book, table] = await Promise.all([
    convertOne(sheet(16_383, 100_000), { format: 'xlsx' }),
    convertOne(sheet(16_383, 200), { format: 'csv' }),
  ]);

  expect(book.length).toBeLessThan(1_000_000);
  expect(table.toString().split('\n')).toHaveLength(202);
});
