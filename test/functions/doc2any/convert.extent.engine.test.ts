import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../functions/doc2any/convert.ts';
import { doc2any } from '../../../functions/doc2any/tool.ts';
import { useEngine } from '../conversion.ts';
import { makeArchive } from '../engines/office/detect/archives.ts';

const { convert, convertOne, refusal } = useEngine(doc2any, createEngine);

/**
 * A sheet with a number in its first cell and in the one that lies so many columns and rows after it, and with print ranges
 * such as `Far.A1:Far.B2`.
 */
function sheet(columns: number, rows: number, printRanges = ''): Buffer {
  const namespaces = ['office', 'table', 'text']
    .map((name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
    .join(' ');
  const cell = (value: number) =>
    `<table:table-cell office:value-type="float" office:value="${value}"><text:p>${value}</text:p></table:table-cell>`;
  const gap = (name: string, count: number) =>
    count > 0
      ? `<table:${name} table:number-${name === 'table-row' ? 'rows' : 'columns'}-repeated="${count}"`
      : '';
  const ranges = printRanges && ` table:print-ranges="${printRanges}"`;
  const emptyRows = rows > 1 ? `${gap('table-row', rows - 1)}><table:table-cell/></table:table-row>` : '';
  const emptyCells = columns > 0 ? `${gap('table-cell', columns)}/>` : '';
  return Buffer.from(
    `<?xml version="1.0"?><office:document ${namespaces} office:version="1.3"` +
      ' office:mimetype="application/vnd.oasis.opendocument.spreadsheet"><office:body><office:spreadsheet>' +
      `<table:table table:name="Far"${ranges}><table:table-row>${cell(1)}</table:table-row>${emptyRows}` +
      `<table:table-row>${emptyCells}${cell(2)}</table:table-row></table:table>` +
      '</office:spreadsheet></office:body></office:document>',
  );
}

/** An xlsx workbook whose only sheet has a number in its first and its last cell, and a print area. */
function workbook(printArea: string): Buffer {
  const types = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const packaged = 'http://schemas.openxmlformats.org/package/2006';
  const relationship = (type: string, target: string) =>
    `<Relationships xmlns="${packaged}/relationships"><Relationship Id="r1" Type="${office}/${type}" Target="${target}"/></Relationships>`;
  return makeArchive([
    {
      name: '[Content_Types].xml',
      content:
        `<Types xmlns="${packaged}/content-types">` +
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
        `<Override PartName="/xl/workbook.xml" ContentType="${types}.sheet.main+xml"/>` +
        `<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${types}.worksheet+xml"/></Types>`,
    },
    { name: '_rels/.rels', content: relationship('officeDocument', 'xl/workbook.xml') },
    { name: 'xl/_rels/workbook.xml.rels', content: relationship('worksheet', 'worksheets/sheet1.xml') },
    {
      name: 'xl/workbook.xml',
      content:
        `<workbook xmlns="${main}" xmlns:r="${office}"><sheets><sheet name="Far" sheetId="1" r:id="r1"/></sheets>` +
        `<definedNames><definedName name="_xlnm.Print_Area" localSheetId="0">${printArea}</definedName></definedNames></workbook>`,
    },
    {
      name: 'xl/worksheets/sheet1.xml',
      content:
        `<worksheet xmlns="${main}"><sheetData><row r="1"><c r="A1"><v>1</v></c></row>` +
        '<row r="1048576"><c r="XFD1048576"><v>2</v></c></row></sheetData></worksheet>',
    },
  ]);
}

it.each([
  ['a million rows', 0, 1_000_000],
  ['seven hundred columns and a hundred thousand rows', 700, 100_000],
])('prints the two pages of a sheet whose cells lie %s apart', async (_, columns, rows) => {
  const { pageCount } = await convert(sheet(columns, rows), { format: 'pdf' });

  expect(pageCount).toBe(2);
});

it.each([
  ['pdf', ''],
  ['pdf', '--fit=sheet'],
  ['csv', ''],
] as const)('rejects a sheet that would take minutes or gigabytes: %s %s', async (format, options) => {
  const error = await refusal(sheet(16_383, 1_048_575), { format, options });

  expect(error).toMatchObject({
    code: 'RESULT_TOO_LARGE',
    message: 'Sheet 1 extends to cell XFD1048576, which is too far for this output format.',
  });
});

describe('a sheet that extends to the last cell', () => {
  it('is printed as far as its print ranges say', async () => {
    const ranges = 'Far.A1:Far.B2 Far.XFC1048575:Far.XFD1048576';

    const { pageCount } = await convert(sheet(16_383, 1_048_575, ranges), { format: 'pdf' });

    expect(pageCount).toBe(2);
  });

  it('is printed as far as the print range of an Excel workbook says', async () => {
    const { pageCount } = await convert(workbook('Far!$A$1:$B$2'), { format: 'pdf' });

    expect(pageCount).toBe(1);
  });
});

it('converts such a sheet to a format that can be edited', async () => {
  const book = await convertOne(sheet(16_383, 100_000), { format: 'xlsx' });

  expect(book.length).toBeLessThan(1_000_000);
});
