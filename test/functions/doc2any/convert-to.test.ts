import { describe, expect, it } from 'vitest';
import { doc2any } from '../../../functions/doc2any/tool.ts';
import type { Format } from '../../../functions/shared/formats.ts';
import { readOptions } from '../../../functions/shared/options/read-options.ts';

const read = (value: string, format: Format = 'pdf') =>
  readOptions(doc2any, [{ name: '--convert-to', value }], format);
const exported = (properties: object) => `pdf:writer_pdf_Export:${JSON.stringify(properties)}`;
const typed = (value: unknown) => ({
  type: typeof value === 'number' ? 'long' : typeof value,
  value: String(value),
});

describe('the filter options of --convert-to', () => {
  it.each([
    [{ EncryptFile: typed(true), DocumentOpenPassword: typed('secret') }, { encrypt: 'secret' }],
    [
      {
        RestrictPermissions: typed(true),
        PermissionPassword: typed('own'),
        Printing: typed(0),
        Changes: typed(2),
      },
      { ownerPassword: 'own', print: 'none', modify: 'form' },
    ],
    [{ EnableCopyingOfContent: false }, { copy: false }],
    [{ SelectPdfVersion: typed(2) }, { pdfVersion: 'PDF/A-2b' }],
    [{ PDFUACompliance: typed(true) }, { pdfVersion: 'PDF/UA' }],
    [
      { Quality: typed(50), MaxImageResolution: typed(150) },
      { quality: 50, imageResolution: 150 },
    ],
    [
      { Watermark: typed('DRAFT'), WatermarkColor: typed(255), WatermarkRotateAngle: typed(450) },
      { watermark: 'DRAFT', watermarkColor: 255, watermarkAngle: 45 },
    ],
    [
      { ExportBookmarks: typed(false), ExportNotesPages: typed(true) },
      { bookmarks: false, notes: true },
    ],
    [{ SinglePageSheets: typed(true) }, { fit: 'sheet' }],
  ])('set the options that they stand for: %j', (properties, expected) => {
    const { options, issues, ignored } = read(exported(properties));

    expect(issues).toEqual([]);
    expect(ignored).toEqual([]);
    expect(options).toMatchObject(expected);
  });

  it('may be pairs, and tokens of csv', () => {
    expect(read('pdf:calc_pdf_Export:PageRange=2-3').options.pages).toBeDefined();
    expect(
      read('csv:Text - txt - csv (StarCalc):59,34,1,1,,0,false,true,false,false,false,2', 'csv').options,
    ).toMatchObject({
      outputSeparator: ';',
      outputEncoding: 'windows-1252',
      sheet: 2,
    });
  });

  it.each([
    ['a protection without an equivalent', exported({ SignPDF: typed(true) })],
    ['redaction', exported({ IsRedactMode: typed(true) })],
    ['encryption without a password', exported({ EncryptFile: typed(true) })],
    ['an unknown version', exported({ SelectPdfVersion: typed(4) })],
    ['JSON that is not valid', 'pdf:writer_pdf_Export:{"EncryptFile":'],
    ['another format', 'docx'],
    ['text that is no option', 'pdf:writer_pdf_Export:secret'],
  ])('are an error for %s', (_, value) => {
    expect(read(value).issues).toMatchObject([{ code: 'BAD_PARAMETER', parameter: '--convert-to' }]);
  });

  it.each(['pdf', 'pdf:writer_pdf_Export', exported({ InitialView: typed(1) })])(
    'are ignored if they change nothing here: %s',
    (value) => {
      expect(read(value)).toMatchObject({ issues: [], ignored: ['--convert-to'] });
    },
  );
});
