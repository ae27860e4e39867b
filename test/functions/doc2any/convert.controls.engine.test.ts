import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../functions/doc2any/convert.ts';
import { doc2any } from '../../../functions/doc2any/tool.ts';
import { useEngine } from '../conversion.ts';
import { makeDocx } from '../engines/office/detect/archives.ts';
import { readPdf } from '../engines/office/read-pdf.ts';

const { convertOne } = useEngine(doc2any, createEngine);

const OASIS = 'urn:oasis:names:tc:opendocument:xmlns';
const NAMESPACES = [
  ...['office', 'table', 'text', 'form'].map((name) => `xmlns:${name}="${OASIS}:${name}:1.0"`),
  `xmlns:draw="${OASIS}:drawing:1.0"`,
  `xmlns:svg="${OASIS}:svg-compatible:1.0"`,
  'xmlns:ooo="http://openoffice.org/2004/office"',
].join(' ');

function sheet(before: string, within: string): Buffer {
  return Buffer.from(
    `<?xml version="1.0"?><office:document ${NAMESPACES} office:version="1.3"` +
      ' office:mimetype="application/vnd.oasis.opendocument.spreadsheet"><office:body><office:spreadsheet>' +
      `<table:table table:name="A">${before}<table:table-row><table:table-cell>${within}<text:p>Zelle</text:p>` +
      '</table:table-cell></table:table-row></table:table></office:spreadsheet></office:body></office:document>',
  );
}

const component = (name: string) => `form:control-implementation="ooo:com.sun.star.form.component.${name}"`;
const label =
  `<office:forms form:apply-design-mode="false"><form:form form:name="F" ${component('Form')}>` +
  `<form:fixed-text form:id="c1" xml:id="c1" form:label="Geburtsort" ${component('FixedText')}/></form:form></office:forms>` +
  '<table:shapes><draw:control draw:control="c1" svg:x="1cm" svg:y="1cm" svg:width="5cm" svg:height="1cm"/></table:shapes>';
const note =
  '<office:annotation office:display="true" svg:x="1cm" svg:y="1cm" svg:width="5cm" svg:height="2cm">' +
  '<text:p>Randnotiz</text:p></office:annotation>';

// LibreOfficeKit leaves both to its clients.
it.each([
  ['the label of a form', sheet(label, ''), 'Geburtsort'],
  ['the note of a cell', sheet('', note), 'Randnotiz'],
])('draws %s', async (_, source, text) => {
  const [page] = await readPdf(await convertOne(source, { format: 'pdf' }));

  expect(page!.text).toContain(text);
});

describe('a content control', () => {
  const words = 'a text that takes more than one line of the page, '.repeat(4);
  const control = `<w:sdt><w:sdtPr><w:text w:multiLine="1"/></w:sdtPr><w:sdtContent><w:r><w:t>${words}</w:t></w:r></w:sdtContent></w:sdt>`;
  const source = makeDocx({ body: `<w:p>${control}<w:r><w:t>The end.</w:t></w:r></w:p>` });
  const widgets = (pdf: Buffer) => pdf.toString('latin1').match(/\/Subtype\s*\/Widget/g)?.length ?? 0;

  it('is printed as text, as Word does', async () => {
    const pdf = await convertOne(source, { format: 'pdf' });

    const [page] = await readPdf(pdf);
    expect(page!.text.replace(/\s+/g, ' ')).toContain(`${words.trim()}The end.`);
    expect(widgets(pdf)).toBe(0);
  });

  it('is a form field with --forms', async () => {
    expect(widgets(await convertOne(source, { format: 'pdf', options: '--forms' }))).toBe(1);
  });
});
