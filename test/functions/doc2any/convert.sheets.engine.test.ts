import { expect, it } from 'vitest';
import { createEngine } from '../../../functions/doc2any/convert.ts';
import { doc2any } from '../../../functions/doc2any/tool.ts';
import { pixel } from '../../helpers/pixels.ts';
import { useEngine } from '../conversion.ts';
import { makeXlsx } from '../engines/office/detect/archives.ts';
import { readPdf } from '../engines/office/read-pdf.ts';

const { convertOne } = useEngine(doc2any, createEngine);

const TYPE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const SHEETS = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';

it('draws the style of a table', async () => {
  const row = (number: number) =>
    `<row r="${number}" ht="72" customHeight="1"><c r="A${number}" t="str"><v>x</v></c></row>`;
  const relationship = `<Relationship Id="t" Type="${TYPE}/table" Target="../tables/table1.xml"/>`;
  const source = makeXlsx([1, 2, 3].map(row).join(''), {
    more: `<pageMargins left="0" right="0" top="0" bottom="0" header="0" footer="0"/><tableParts xmlns:r="${TYPE}"><tablePart r:id="t"/></tableParts>`,
    parts: {
      'xl/worksheets/_rels/sheet1.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${relationship}</Relationships>`,
      'xl/tables/table1.xml': `<table ${SHEETS} id="1" name="T" displayName="T" ref="A1:A3"><tableColumns count="1"><tableColumn id="1" name="x"/></tableColumns><tableStyleInfo name="TableStyleMedium9" showRowStripes="1"/></table>`,
    },
  });

  const picture = await convertOne(source, { format: 'png', options: 'in_ext=.xlsx -r=72' });

  // Accent 1 of the theme of Excel 2007, and its tints.
  const rows = await Promise.all([36, 108, 180].map((y) => pixel(picture, 30, y)));
  expect(rows).toEqual([
    [0x4f, 0x81, 0xbd, 255],
    [0xb9, 0xcd, 0xe5, 255],
    [0xdc, 0xe6, 0xf2, 255],
  ]);
});

it.each(['pdf', 'csv'] as const)('keeps the saved values of unknown functions in %s', async (format) => {
  const source = makeXlsx('<row r="1"><c r="A1" t="str"><f>StatusOf(B1)</f><v>Approved</v></c></row>');

  const result = await convertOne(source, { format, options: 'in_ext=.xlsx' });

  const text = format === 'csv' ? result.toString() : (await readPdf(result))[0]!.text;
  expect(text).toContain('Approved');
});
